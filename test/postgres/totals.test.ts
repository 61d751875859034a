/** How many agents and memories there are on PostgreSQL, however many that is. */
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/port/store.ts'
import {
  type Connections,
  openConnections,
  unprepared,
} from '../../src/store/postgres/engine/connections.ts'
import { hostsOf } from '../../src/store/postgres/engine/hosts.ts'
import { selectTotals } from '../../src/store/postgres/store.ts'
import { processTimers } from '../../src/timers.ts'
import { NOON } from '../store/fixture.ts'
import { unbounded } from '../unbounded.ts'
import { cloneDatabase, type Database } from './databases.ts'

let database: Database
let store: Store
let connections: Connections
beforeAll(async () => {
  database = await cloneDatabase(inject('postgresUrl'), inject('postgresTemplate'))
  store = await openStore(database.url, NOON, unbounded)
  connections = openConnections(hostsOf(database.url), 1, 'agent-home test', {
    timers: processTimers,
  })
})
afterAll(async () => {
  await connections.close()
  await store.close()
  await database.drop()
})

/** Homes that say they have two memories, and have them. */
async function addHomes(from: number, to: number): Promise<void> {
  for (const sql of [
    `INSERT INTO agents (agent_id, name, purpose, symbol, status, created_at, updated_at)
     SELECT 'agent' || i, 'Atlas', 'Is counted.', 'zerno', 'active', 0, 0
     FROM generate_series(${from}, ${to}) i`,
    `INSERT INTO homes (agent_id, memories, head, base)
     SELECT 'agent' || i, 2, '', '' FROM generate_series(${from}, ${to}) i`,
    `INSERT INTO memories (agent_id, key, id, version, created_at, updated_at, size, deleted, pinned)
     SELECT 'agent' || i, 'k' || k, 'id', 1, 0, 0, 1, false, false
     FROM generate_series(${from}, ${to}) i, generate_series(1, 2) k`,
  ]) {
    await connections.write(unprepared(sql))
  }
}

interface Plan {
  readonly 'Actual Rows': number
  readonly Plans?: readonly Plan[]
}

const rowsOf = ({ Plans = [], ...plan }: Plan): number[] => [
  plan['Actual Rows'],
  ...Plans.flatMap(rowsOf),
]

/** The most rows that any part of the statement had in hand. */
async function mostRows(): Promise<number> {
  const explain = unprepared<Record<string, readonly { readonly Plan: Plan }[]>>(
    `EXPLAIN (ANALYZE, FORMAT JSON) ${selectTotals.text}`,
  )
  const [explained] = await connections.read(explain)
  return Math.max(
    ...Object.values(explained ?? {}).flatMap(([each]) => (each ? rowsOf(each.Plan) : [])),
  )
}

test('up to a thousand agents are counted', async () => {
  await addHomes(1, 1_000)
  expect(await store.status()).toMatchObject({ agents: 1_000, memories: 2_000 })
  expect(await mostRows()).toBe(1_000)
})

test('of more, the server tells how many, and no more rows are read for it', async () => {
  await addHomes(1_001, 9_000)
  // What a connection has inserted is added to the server's count up to a second later, also if
  // VACUUM has counted it by then.
  await connections.write(unprepared('SELECT pg_stat_force_next_flush()'))
  await connections.alone('VACUUM ANALYZE homes, memories')
  expect(await store.status()).toMatchObject({ agents: 9_000, memories: 18_000 })
  expect(await mostRows()).toBe(1_001)
})
