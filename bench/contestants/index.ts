/** Who competes. */
import type { Contestant } from './contestant.ts'
import { etcd } from './etcd.ts'
import { bare, gateway, ours } from './home.ts'
import { libraries } from './libraries.ts'
import { mcpMemory } from './mcp-memory.ts'
import { plainRow } from './plain-row.ts'
import { pouchdb } from './pouchdb.ts'
import { redis } from './redis.ts'
import { sqlite } from './sqlite.ts'

export const contestants: readonly Contestant[] = [
  bare,
  ours,
  gateway,
  sqlite,
  plainRow,
  etcd,
  redis,
  pouchdb,
  mcpMemory,
  ...libraries,
]
