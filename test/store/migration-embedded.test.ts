/** A database of 1.0.0 with many memories, on the embedded engine. */
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStore } from '../../src/store/open.ts'
import type { Identity } from '../../src/store/port/identity.ts'
import type { Store } from '../../src/store/port/store.ts'
import { released } from '../fixtures/released.ts'
import type { TestDatabase } from '../harness.ts'
import { unbounded } from '../unbounded.ts'
import { bytesIn } from './erasing.ts'
import { NOON, newQuery } from './fixture.ts'

const AGENTS = 3
const MEMORIES = 7_000

const agentOf = (n: number): string => `01a1ffdd-0000-7000-8000-${String(n).padStart(12, '0')}`
const tokenOf = (n: number): string => String(n).padStart(64, 'f')
const fileOf = ({ url }: TestDatabase): string => url.replace(/^sqlite:/, '')

const textOf = (n: number): string => `This is the text of ${n}, and of no other.`

/** Agents in turn, and some times are the same. */
function fill(db: DatabaseSync): void {
  const agent = db.prepare(
    `INSERT INTO agents (id, name, purpose, symbol, status, memory_count, birth_key_hash,
       birth_fingerprint, birth_salt, created_at, updated_at)
     VALUES (?, 'Old', 'Was there.', 'zerno', 'active', 0, ?, '', '', 1, 1)`,
  )
  const credential = db.prepare(`INSERT INTO credentials VALUES (?, ?, 'operator')`)
  for (let n = 0; n < AGENTS; n++) {
    agent.run(agentOf(n), String(n))
    credential.run(tokenOf(n), agentOf(n))
  }
  const memory = db.prepare(`INSERT INTO memories VALUES (?, ?, ?, ?, ?, 1, 1, ?)`)
  for (let n = 0; n < MEMORIES; n++) {
    const metadata = n % 5 === 0 ? '{"pinned":true}' : '{"pinned":"true"}'
    memory.run(agentOf(n % AGENTS), `k${n}`, `id${n}`, textOf(n), metadata, (n * 7) % 50)
  }
}

const told: [done: number, of: number][] = []
/** How much was told by then. */
const writing: number[] = []
const progress = (done: number, of: number, isWriting = false) => {
  if (isWriting) writing.push(told.length)
  told.push([done, of])
}
let before = 0
let database: TestDatabase
let store: Store
let old: Identity

beforeAll(async () => {
  const fixture = released.find(({ name }) => name === '1.0.0 on sqlite')
  if (!fixture) throw new Error('there is no such database')
  database = await fixture.fresh()
  const db = new DatabaseSync(fileOf(database))
  db.exec('BEGIN')
  fill(db)
  db.exec('COMMIT')
  before = Number(db.prepare('SELECT count(*) AS n FROM memories').get()?.n)
  db.close()
  store = await openStore(database.url, NOON, unbounded, progress)
  const identity = await store.identify(tokenOf(1))
  if (!identity) throw new Error('a token is not known')
  old = identity
})
afterAll(async () => {
  await store.close()
  await database.drop()
})

test('it is told how far it is, of all memories that are there', () => {
  expect(told[0]).toEqual([0, before])
  expect(told.at(-1)).toEqual([before, before])
  const dones = told.map(([done]) => done)
  expect(dones).toEqual(dones.toSorted((a, b) => a - b))
})

test('at last it is told that what was done is being written', () => {
  expect(writing).toEqual([told.length - 2])
})

test('within a part too it is told: some thousand memories at a time', () => {
  const distinct = new Set(told.map(([done]) => done))
  expect(distinct.size).toBeGreaterThan(20)
  const steps = [...distinct].map((done, at, all) => done - (all[at - 1] ?? 0))
  expect(Math.max(...steps) / before).toBeLessThan(0.25)
})

async function listed(order: 'key' | 'changed', pinned?: true): Promise<string[]> {
  const asked = newQuery({ order, limit: MEMORIES, ...(pinned && { pinned }) })
  const answer = await store.listMemories(old, asked)
  if (answer.outcome !== 'memories') throw new Error(answer.outcome)
  return answer.memories.map(({ key }) => key)
}

test('memories are in the order of their change, then of their key, and pinned as they were', async () => {
  const numbers = Array.from({ length: MEMORIES }, (_, n) => n).filter((n) => n % AGENTS === 1)
  const key = (n: number) => `k${n}`
  const byKey = numbers.map(key).sort()
  const time = (key: string) => (Number(key.slice(1)) * 7) % 50
  const byChange = byKey.toSorted((a, b) => time(a) - time(b)).reverse()
  const found = await listed('changed')
  expect(found.length).toBeGreaterThan(500)
  expect(found).toEqual(byChange.slice(0, found.length))
  expect(await listed('key')).toEqual(byKey.slice(0, found.length))
  const pinned = byKey.filter((each) => Number(each.slice(1)) % 5 === 0)
  expect(await listed('key', true)).toEqual(pinned.slice(0, found.length))
})

test('what is erased then is not left where it lay before', async () => {
  const bytes = () => bytesIn(dirname(fileOf(database)))
  expect(bytes()).toContain(textOf(4))
  expect(await store.eraseMemory(old, 'k4', 'all', NOON)).toMatchObject({ outcome: 'erased' })
  expect(bytes()).not.toContain(textOf(4))
  expect(bytes()).toContain(textOf(7))
})

test('a database that is up to date, or new, is opened without a word', async () => {
  const again: unknown[] = []
  await store.close()
  store = await openStore(database.url, NOON, unbounded, (...each) => again.push(each))
  expect(again).toEqual([])
})
