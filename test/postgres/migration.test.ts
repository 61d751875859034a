/** A database of 1.0.0 with many memories: afterwards it is as if it had always had history. */
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStore } from '../../src/store/open.ts'
import type { Identity } from '../../src/store/port/identity.ts'
import type { MemoriesQuery } from '../../src/store/port/memories.ts'
import type { Store } from '../../src/store/port/store.ts'
import type { KeptVersion } from '../../src/store/port/transfer.ts'
import { SCHEMA } from '../../src/store/schema.ts'
import { processTimers } from '../../src/timers.ts'
import { released } from '../fixtures/released.ts'
import type { TestDatabase } from '../harness.ts'
import { beginning, checkChain } from '../store/chained.ts'
import { connect } from '../store/connected.ts'
import { NOON, newBirth, newQuery, newWrite, noLimits } from '../store/fixture.ts'
import { unbounded } from '../unbounded.ts'

const AGENTS = 30
const MEMORIES = 200

const metadataOf = (n: number): string =>
  ['{}', '{"pinned":true}', '{"\\u0070inned": true, "n": 1e2}', '{"pinned":"true"}'][n % 4] ?? '{}'

/** Some times are the same, and none is in the order of the keys. */
const memories: readonly KeptVersion[] = Array.from({ length: MEMORIES }, (_, n) => ({
  key: `k${n}`,
  id: randomUUID(),
  version: 1 + (n % 5),
  operation: 'write',
  by: undefined,
  createdAt: NOON - 500,
  updatedAt: NOON - ((n * 7) % 50),
  content: { text: `текст ${n} `.repeat(1 + (n % 90)), metadata: metadataOf(n) },
}))

const agentOf = (n: number): string => `01a1ffdd-0000-7000-8000-${String(n).padStart(12, '0')}`
const tokenOf = (n: number): string => String(n).padStart(64, 'f')

async function fill(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  for (let n = 0; n < AGENTS; n++) {
    const counted = n === 0 ? 0 : MEMORIES
    await client.query(
      `INSERT INTO agents (agent_id, name, purpose, symbol, status, memory_count, created_at, updated_at)
       VALUES ($1, 'Old', 'Was there.', 'zerno', 'active', $2, 1, 1)`,
      [agentOf(n), counted],
    )
    await client.query(
      `INSERT INTO credentials (agent_id, token_hash, kind, status) VALUES ($1, $2, 'operator', 'active')`,
      [agentOf(n), tokenOf(n)],
    )
    if (counted === 0) continue
    const column = <T>(of: (memory: KeptVersion) => T) => memories.map(of)
    await client.query(
      `INSERT INTO memories (agent_id, key, id, text, metadata, version, created_at, updated_at)
       SELECT $1, * FROM unnest($2::TEXT[], $3::TEXT[], $4::TEXT[], $5::TEXT[], $6::BIGINT[],
         $7::BIGINT[], $8::BIGINT[])`,
      [
        ...[agentOf(n), column(({ key }) => key), column(({ id }) => id)],
        ...[column(({ content }) => content?.text), column(({ content }) => content?.metadata)],
        ...[column(({ version }) => version), column(({ createdAt }) => createdAt)],
        column(({ updatedAt }) => updatedAt),
      ],
    )
  }
  const { rows } = await client.query<{ n: number }>('SELECT count(*)::INT AS n FROM memories')
  await client.end()
  return rows[0]?.n ?? 0
}

/** A database of 1.0.0. */
async function oldDatabase(): Promise<TestDatabase> {
  const fixture = released.find(({ name }) => name === '1.0.0 on postgres')
  if (!fixture) throw new Error('there is no such database')
  return fixture.fresh()
}

const told: [done: number, of: number][] = []
let before = 0
let database: TestDatabase
let store: Store
let old: Identity
let empty: Identity
let always: Identity

async function identified(tokenHash: string): Promise<Identity> {
  const identity = await store.identify(tokenHash)
  if (!identity) throw new Error('a token is not known')
  return identity
}

/** An import reads it as often as it needs. */
const inOrder = {
  async *[Symbol.asyncIterator]() {
    yield memories.toSorted((a, b) => a.updatedAt - b.updatedAt || (a.key < b.key ? -1 : 1))
  },
}

beforeAll(async () => {
  database = await oldDatabase()
  before = await fill(database.url)
  const progress = (done: number, of: number) => told.push([done, of])
  store = await openStore(database.url, NOON, unbounded, progress)
  old = await identified(tokenOf(7))
  empty = await identified(tokenOf(0))
  const birth = newBirth()
  await store.bear(birth, noLimits, NOON)
  always = await identified(birth.operatorTokenHash)
  await store.importMemories(always, inOrder, { onConflict: 'fail', dryRun: false }, NOON)
})
afterAll(async () => {
  await store.close()
  await database.drop()
})

/** Every page of it. */
async function listed(identity: Identity, query: Partial<MemoriesQuery>) {
  const found = []
  for (let after: string | undefined; ; ) {
    const asked = newQuery({ ...query, whole: true, ...(after !== undefined && { after }) })
    const answer = await store.listMemories(identity, asked)
    if (answer.outcome !== 'memories') throw new Error(answer.outcome)
    found.push(...answer.memories)
    if (answer.next === undefined) return { found, lastEvent: answer.lastEvent }
    after = answer.next
  }
}

test('it is told how far it is, of all memories that are there', () => {
  expect(told[0]).toEqual([0, before])
  expect(told.at(-1)).toEqual([before, before])
  const dones = told.map(([done]) => done)
  expect(dones).toEqual(dones.toSorted((a, b) => a - b))
  expect(dones.length).toBeGreaterThan(4)
})

/** The address for a role that owns everything of the database, and may see no session of others. */
async function ownedByRole({ url }: TestDatabase): Promise<string> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const role = `role_${randomUUID().replaceAll('-', '')}`
  await client.query(`CREATE ROLE ${role} LOGIN PASSWORD 'its own'`)
  const { rows } = await client.query<{ sql: string }>(`
    SELECT format('ALTER TABLE %s OWNER TO ${role}', oid::REGCLASS) AS sql FROM pg_class
      WHERE relnamespace = 'public'::REGNAMESPACE AND relkind = 'r'
    UNION ALL SELECT format('ALTER FUNCTION %s OWNER TO ${role}', oid::REGPROCEDURE) FROM pg_proc
      WHERE pronamespace = 'public'::REGNAMESPACE`)
  for (const { sql } of rows) await client.query(sql)
  await client.query(`ALTER SCHEMA public OWNER TO ${role}`)
  await client.end()
  const address = new URL(url)
  Object.assign(address, { username: role, password: 'its own' })
  return address.href
}

async function hiddenFromRole(database: TestDatabase): Promise<string> {
  const { ask, end } = await connect(database)
  await ask('REVOKE ALL ON pg_catalog.pg_stat_activity FROM PUBLIC')
  await end()
  return ownedByRole(database)
}

/** Its pauses end at once; `meanwhile`: what happens in the first of them. */
async function pausesOf(url: string, meanwhile: (ms: number) => Promise<unknown>) {
  const pauses: unknown[] = []
  const pause = async (ms: number) => void pauses.push([ms, await meanwhile(ms)])
  await (await openStore(url, NOON, { ...unbounded, timers: { ...processTimers, pause } })).close()
  return pauses
}

async function of2(): Promise<TestDatabase> {
  const fixture = released.find(({ name }) => name === '2.0.0 on postgres')
  if (!fixture) throw new Error('there is no such database')
  return fixture.fresh()
}

const SAID = 'SELECT version, oldest FROM schema_version'
const announced = [15_000, [{ version: 26, oldest: 28 }]]

test.each([
  ['of the same role', undefined],
  ['of another role, whose sessions it may not see', ownedByRole],
  ['where it may see no sessions at all', hiddenFromRole],
])('nodes of 2.0.0 have time to stop before what they use goes: %s', async (_, own) => {
  const older = await of2()
  const other = await connect(older)
  const url = (await own?.(older)) ?? older.url
  expect(await pausesOf(url, () => other.ask(SAID))).toEqual([announced])
  await other.end()
  await older.drop()
})

test('so has one that connects again meanwhile; where there is none it is not waited for', async () => {
  const [used, unused] = [await of2(), await of2()]
  let other: Awaited<ReturnType<typeof connect>> | undefined
  const connectingAgain = async () => {
    other ??= await connect(used)
    return other.ask(SAID)
  }
  expect(await pausesOf(used.url, connectingAgain)).toEqual([[2_000, announced[1]], announced])
  expect(await pausesOf(unused.url, async () => 'nobody')).toEqual([[2_000, 'nobody']])
  await other?.end()
  for (const each of [used, unused]) await each.drop()
})

test('a database that is up to date, or new, is opened without a word', async () => {
  const again: unknown[] = []
  const progress = (...each: unknown[]) => again.push(each)
  await (await openStore(database.url, NOON, unbounded, progress)).close()
  expect(again).toEqual([])
})

test.each([
  ['by key', { order: 'key' }],
  ['by change', { order: 'changed' }],
  ['those that are pinned', { order: 'key', pinned: true }],
] as const)('what is listed %s is as it would be', async (_, query) => {
  const [was, would] = [await listed(old, query), await listed(always, query)]
  // An import says that it began, and that it ended.
  expect(was.found).toEqual(would.found.map((each) => ({ ...each, change: each.change - 1 })))
  expect(was.lastEvent).toBe(would.lastEvent - 2)
  expect(was.found.length).toBe('pinned' in query ? MEMORIES / 2 : MEMORIES)
})

test('each memory has the one version that is known, and the home counts what it would', async () => {
  for (const { key, version } of memories.slice(0, 9)) {
    const versions = await store.listVersions(old, key, undefined, 10)
    expect(versions).toMatchObject({ versions: [{ version, by: undefined }], next: undefined })
    expect(versions).toEqual(await store.listVersions(always, key, undefined, 10))
  }
  const profiles = [await store.readProfile(old), await store.readProfile(always)]
  const counts = profiles.map((answer) =>
    answer.outcome === 'profile' ? [answer.memoryCount, answer.bytes] : answer.outcome,
  )
  expect(counts[0]).toEqual(counts[1])
  expect(await store.eventsAfter(old, 0, 10)).toEqual({
    ...{ outcome: 'events', events: [], last: MEMORIES, first: MEMORIES + 1 },
    ...{ newest: MEMORIES, reached: MEMORIES, missed: true, looked: 0 },
    // The chain begins with the migration.
    previous: { id: MEMORIES, hash: beginning(old.agentId) },
  })
})

test('what is done next follows what was there', async () => {
  const write = newWrite({ key: 'k4', expectedVersion: 5 })
  expect(await store.writeMemory(old, write, NOON)).toMatchObject({ memory: { version: 6 } })
  const erased = await store.eraseMemory(old, 'k4', 'history', NOON)
  expect(erased).toEqual({ outcome: 'erased', versions: [5] })
  expect(await store.eventsAfter(old, 0, 10)).toMatchObject({
    events: [
      { id: MEMORIES + 1, type: 'write' },
      { id: MEMORIES + 2, type: 'erase' },
    ],
  })
  const { faults, proven } = await checkChain(store, old)
  expect({ faults, proven }).toEqual({ faults: [], proven: 1 })
  expect(await store.writeMemory(empty, newWrite(), NOON)).toMatchObject({ outcome: 'saved' })
  expect(await store.eventsAfter(empty, 0, 10)).toMatchObject({ last: 1, first: 1 })
})

test('it is done in slices: one that was interrupted is continued, by nodes that start together', async () => {
  const other = await oldDatabase()
  const all = await fill(other.url)
  const sql = await connect(other)
  const counted = async (from: string) =>
    Number((await sql.ask(`SELECT count(*) FROM ${from}`))[0]?.count)
  const interrupted = openStore(other.url, NOON, unbounded, (done) => {
    if (done > all / 2) throw new Error('the power is gone')
  })
  await expect(interrupted).rejects.toThrow('the power is gone')
  const [version] = await sql.ask('SELECT version, oldest, place FROM schema_version')
  // A program of 1.0.0 refuses it, as newer.
  expect(version).toMatchObject({ version: SCHEMA, oldest: SCHEMA, place: expect.any(String) })
  const copied = await counted('memories')
  expect(copied).toBeGreaterThan(all / 4)
  expect(copied).toBeLessThan(all)
  expect(await counted('log')).toBe(copied)

  const dones: number[] = []
  const starts = Array.from({ length: 3 }, () =>
    openStore(other.url, NOON, unbounded, (done) => dones.push(done)),
  )
  const stores = await Promise.all(starts)
  expect(Math.min(...dones)).toBeGreaterThan(all / 4)
  expect(await counted('memories')).toBe(all)
  expect(await sql.ask('SELECT version, place FROM schema_version')).toEqual([
    { version: SCHEMA, place: null },
  ])
  expect(await counted('log')).toBe(all)
  expect(await counted('homes')).toBe(await counted('agents'))
  const held = '(SELECT count(*) FROM memories m WHERE m.agent_id = h.agent_id)'
  expect(await counted(`homes h WHERE memories <> ${held} OR last_event <> ${held}`)).toBe(0)
  expect(await counted(`memories WHERE pinned AND key LIKE 'k%'`)).toBe(
    ((AGENTS - 1) * MEMORIES) / 2,
  )
  for (const each of stores) await each.close()
  await sql.end()
  await other.drop()
})
