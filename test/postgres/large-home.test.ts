/**
 * A server that has statistics takes every home for one like most. Where most are small, nothing that
 * is done in a large one may read all of its log for that.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Identity } from '../../src/store/port/identity.ts'
import type { Change } from '../../src/store/port/memories.ts'
import { statement, unprepared } from '../../src/store/postgres/engine/connections.ts'
import { surplusOf } from '../../src/store/surplus.ts'
import { NOON, newQuery } from '../store/fixture.ts'
import { REPLACE, sourceOf } from '../store/import-work.ts'
import { kept } from '../store/kept.ts'
import { type Opened, openBeside } from './opened.ts'

const KEYS = 200
const VERSIONS = 50
/** Of the versions of one key, what is done with them reads each some times. */
const FEW_ROWS = 8 * VERSIONS
/** An older server finds the rows of a list in all of a home's log from the first to the last of them. */
const LISTS = 17

const BOUNDS = { versions: VERSIONS, events: KEYS }

/** No later look at the tables changes what the server takes homes for. */
const prepared = [
  `INSERT INTO log (agent_id, n, kept, operation, key, version, memory_id, created_at, updated_at)
     SELECT 'small' || n, 1, true, 'write', 'k', 1, 'id', 0, 0 FROM generate_series(1, 20000) n`,
  `INSERT INTO memories
     SELECT 'small' || n, 'k', 'id', 1, 0, 0, 0, 1, false, false FROM generate_series(1, 20000) n`,
  'ALTER TABLE log SET (autovacuum_enabled = false)',
  'ALTER TABLE memories SET (autovacuum_enabled = false)',
  'ANALYZE log, memories',
].map((sql) => unprepared(sql))

const others = statement<{ pid: number }>(`
  SELECT pid FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid()`)

const running = statement('SELECT 1 FROM pg_stat_activity WHERE pid = ANY($1)')

const version = statement<{ major: number }>(
  "SELECT current_setting('server_version_num')::INT / 10000 AS major",
)

const rowsRead = statement<{ rows: number }>(`
  SELECT sum(seq_tup_read + idx_tup_fetch)::BIGINT AS rows FROM pg_stat_user_tables
  WHERE relname IN ('log', 'memories')`)

let opened: Opened
/** Rows that removing all versions of a key may read: twice, of retained events and of others. */
let removed: number
let agent: Identity
let operator: Identity

function* versions(first: number) {
  for (let n = 0; n < KEYS; n++) {
    for (let at = 1; at <= VERSIONS; at++) yield kept(`k${first + n}`, at, 'x')
  }
}

const bring = (first = 0) =>
  opened.fixture.store().importMemories(
    operator,
    sourceOf(() => versions(first), 1_000),
    REPLACE,
    NOON,
  )

beforeAll(async () => {
  opened = await openBeside(1)
  const [server] = await opened.connections.read(version)
  const finds = (server?.major ?? 0) >= LISTS
  removed = FEW_ROWS + (finds ? 0 : 2 * KEYS * VERSIONS)
  for (const each of prepared) await opened.connections.write(each)
  await opened.fixture.restart(BOUNDS)
  const born = await opened.fixture.agent()
  agent = born.agent
  operator = born.operator
  expect(await bring()).toMatchObject({ imported: KEYS })
})
afterAll(() => opened.close())

/** A connection tells what it read when it ends. */
async function total(): Promise<number> {
  const { read: ask } = opened.connections
  const pids = (await ask(others)).map(({ pid }) => pid)
  await opened.fixture.restart(BOUNDS)
  while ((await ask(running, pids)).length > 0);
  const [read] = await ask(rowsRead)
  return read?.rows ?? Number.NaN
}

async function readBy(work: () => Promise<unknown>): Promise<number> {
  const before = await total()
  await work()
  return (await total()) - before
}

const store = () => opened.fixture.store()
const change = (made: Change) => () => store().changeMemories(agent, [made], NOON)
const erase = (key: string, what: 'all' | 'history' | number[]) => () =>
  store().eraseMemory(operator, key, what, NOON)

const restore = { verb: 'restore', id: crypto.randomUUID(), version: 20 } as const
const write = { id: crypto.randomUUID(), text: 'y', metadata: '{}' } as const

test.each([
  ['its versions', () => store().listVersions(agent, 'k1', undefined, 20), 'versions'],
  ['a version', () => store().readVersion(agent, 'k2', 20), 'found'],
  ['a restore', change({ ...restore, key: 'k3', expectedVersion: VERSIONS }), 'changed'],
  ['an erasure of a version', erase('k5', [3]), 'erased'],
  ['an erasure of a history', erase('k6', 'history'), 'erased'],
  [
    'the last changes',
    () => store().listMemories(agent, newQuery({ order: 'changed', limit: 20 })),
    'memories',
  ],
])('%s: read is what it is about', async (_, work, outcome) => {
  const outcomes: string[] = []
  const read = await readBy(async () => outcomes.push((await work()).outcome))
  expect(outcomes).toEqual([outcome])
  expect(read).toBeLessThan(FEW_ROWS)
})

test('an erasure of all versions reads little else', async () => {
  const outcomes: string[] = []
  const read = await readBy(async () => outcomes.push((await erase('k7', 'all')()).outcome))
  expect(outcomes).toEqual(['erased'])
  expect(read).toBeLessThan(removed)
})

test('what gives way to a write is all that is read', async () => {
  const writes = surplusOf(VERSIONS)
  const read = await readBy(async () => {
    for (let made = 0; made < writes; made++) {
      const expectedVersion = VERSIONS + made
      await store().writeMemory(agent, { ...write, key: 'k8', expectedVersion }, NOON + 60_000)
    }
  })
  const { outcome } = await store().readVersion(agent, 'k8', 1)
  expect(outcome).toBe('gone')
  expect(read).toBeLessThan(removed)
})

test('an import reads its own rows, each a few times', async () => {
  expect(await readBy(() => bring(KEYS))).toBeLessThan(3 * KEYS * VERSIONS)
})

test('an export reads each of its rows a few times', async () => {
  const read = await readBy(async () => {
    const answer = await store().exportMemories(operator, '', true)
    if (answer.outcome !== 'export') throw new Error(answer.outcome)
    const memories = (await Array.fromAsync(answer.memories)).flat()
    const history = (await Array.fromAsync(answer.history ?? [])).flat()
    answer.close()
    expect([memories.length, history.length > KEYS * VERSIONS]).toEqual([2 * KEYS - 1, true])
  })
  expect(read).toBeLessThan(10 * 2 * KEYS * VERSIONS)
})
