/** The retained versions of a home for an export that were made under a prefix, by key, oldest first. */
import type { DatabaseSync } from 'node:sqlite'
import type { KeptVersion } from '../../port/transfer.ts'
import { endOf, keptVersionOf } from '../../rows.ts'
import { prepare } from '../engine/connection.ts'
import { prepareChain, prepareContent } from '../memories/versions.ts'

interface KeptMemory {
  key: string
  n: number
  deleted: number
}

/** `most`: versions retained of a memory. */
export function prepareExportHistory(db: DatabaseSync, most: number) {
  const memories = prepare<KeptMemory>(
    db,
    `SELECT key, n, deleted FROM memories
     WHERE agent_id = ? AND key >= ? AND key < ? AND n IS NOT NULL ORDER BY key`,
  )
  const chain = prepareChain(db)
  const content = prepareContent(db)

  return function* history(agentId: string, prefix: string): Generator<KeptVersion> {
    for (const { key, n, deleted } of memories.iterate(agentId, prefix, endOf(prefix))) {
      const within = [...chain(n, most)].filter((row) => row.key.startsWith(prefix))
      for (const row of within.toReversed()) {
        const isCurrent = row.n === n && deleted === 0
        const { text = null, metadata = null } = (!isCurrent && content(row.n)) || {}
        yield keptVersionOf({ ...row, key, made_as: row.key, text, metadata })
      }
    }
  }
}
