/** On the embedded engine: an agent is gone with one short write, and what it kept goes after it in slices. */
import { expect, test } from 'vitest'
import type { Identity } from '../../src/store/port/identity.ts'
import type { KeptVersion } from '../../src/store/port/transfer.ts'
import { transact } from '../../src/store/sqlite/engine/connection.ts'
import { eraseLeft } from '../../src/store/sqlite/erase-agent.ts'
import { eraseAgentVerb } from '../../src/store/sqlite/store.ts'
import { NOON } from './fixture.ts'
import {
  db,
  newHome,
  openDatabase,
  openWork,
  REPLACE,
  sourceOf,
  watchWrites,
} from './import-work.ts'
import { kept } from './kept.ts'

openDatabase()

/** Of one write: 128 memories, or 128 versions of 4 pages each. */
const MOST = { rows: 600, pages: 2_000 }
const TEXT = 'x'.repeat(16_380)

function* file(keys: number, versions: number): Generator<KeptVersion> {
  for (let n = 0; n < keys; n++) {
    for (let at = 1; at <= versions; at++) yield kept(`k${String(n).padStart(5, '0')}`, at, TEXT)
  }
}

const TABLES = ['agents', 'memories', 'homes', 'credentials', 'log', 'log_index', 'erased_agents']

const rowsOf = ({ agentId }: Identity) =>
  Object.fromEntries(
    TABLES.map((table) => {
      const sql = `SELECT count(*) AS n FROM ${table} WHERE agent_id = ?`
      return [table, db.prepare(sql).get(agentId)?.n]
    }),
  )

const GONE = Object.fromEntries(TABLES.map((table) => [table, 0]))

async function filled(keys: number, versions: number): Promise<Identity> {
  const work = openWork()
  const identity = newHome(work)
  await work.importMemories(
    identity,
    sourceOf(() => file(keys, versions)),
    REPLACE,
    NOON,
  )
  return identity
}

test('of 64 MiB no write keeps others waiting for more than a few rows and pages', async () => {
  const identity = await filled(1_000, 4)
  const writes = watchWrites()
  const work = openWork(writes.look)
  expect(await eraseAgentVerb(work, () => {})(identity)).toEqual({ outcome: 'erased' })
  writes.look()
  expect(rowsOf(identity)).toEqual(GONE)
  const most = writes.most()
  expect(most.rows).toBeGreaterThan(0)
  expect(most.rows).toBeLessThan(MOST.rows)
  expect(most.pages).toBeGreaterThan(0)
  expect(most.pages).toBeLessThan(MOST.pages)
})

test('it is gone at once, and what a process has left of it when the next one starts', async () => {
  const [identity, other] = [await filled(2, 100), await filled(2, 100)]
  const { verbs } = openWork()
  const before = rowsOf(other)
  expect(transact(db, () => verbs.eraseAgent(identity))).toEqual({ outcome: 'erased' })
  const left = rowsOf(identity)
  expect(left).toMatchObject({ agents: 0, memories: 2, homes: 0, credentials: 0, erased_agents: 1 })
  expect(left.log).toBeGreaterThan(128)
  expect(transact(db, () => verbs.eraseAgent(identity))).toEqual({ outcome: 'revoked' })
  transact(db, () => eraseLeft(db))
  expect([rowsOf(identity), rowsOf(other)]).toEqual([GONE, before])
})
