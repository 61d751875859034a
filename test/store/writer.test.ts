import { once } from 'node:events'
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { keepSigningKey } from '../../src/pipeline/signing.ts'
import { OutcomeUnknown, StoreOverloaded, StoreUnavailable } from '../../src/store/port/errors.ts'
import type { Birth } from '../../src/store/port/home.ts'
import type { Identity } from '../../src/store/port/identity.ts'
import type { Store } from '../../src/store/port/store.ts'
import { openSqlite } from '../../src/store/sqlite/store.ts'
import { temporaryDirectory } from '../harness.ts'
import { unbounded } from '../unbounded.ts'

const unlimited = { perAddress: 0, perNetwork: 0, inAll: 0, windowMs: 3_600_000 }

const birth = (name: string, account?: Birth['account']): Birth => ({
  agentId: name,
  name,
  purpose: 'Tests the writer.',
  symbol: 'zerno',
  agentTokenHash: `${name}-agent`,
  operatorTokenHash: `${name}-operator`,
  keyHash: `${name}-key`,
  fingerprint: 'f',
  salt: 's',
  account,
  bornFrom: '10.0.0.1',
})

const identity: Identity = {
  agentId: 'atlas',
  kind: 'agent',
  tokenHash: 'atlas-agent',
  status: 'active',
}

const memory = (key: string, expectedVersion: number) => ({
  id: `id-${key}`,
  key,
  text: `version ${expectedVersion + 1}`,
  metadata: '{}',
  expectedVersion,
})

let directory: string
let store: Store
let thread: Worker

const open = () => openSqlite(`sqlite:${join(directory, 'home.db')}`, 1, unbounded)
const write = (key: string, expectedVersion = 0) =>
  store.writeMemory(identity, memory(key, expectedVersion), 1)

/** Of `k0` to `k49`, the keys that a memory is under. */
async function keysStored(): Promise<number> {
  const read = Array.from({ length: 50 }, (_, i) => store.readMemory(identity, `k${i}`))
  return (await Promise.all(read)).filter(({ outcome }) => outcome === 'found').length
}

/** Agents with two memories each, as far as the totals are concerned. */
function fill(agents: number): void {
  const db = new DatabaseSync(join(directory, 'home.db'))
  db.exec(`
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${agents})
    INSERT INTO agents (agent_id, name, purpose, symbol, status, created_at, updated_at)
    SELECT i, 'Atlas', 'Is counted.', 'zerno', 'active', 0, 0 FROM n;
    INSERT OR IGNORE INTO homes (agent_id, memories, head, base)
      SELECT agent_id, 2, x'', x'' FROM agents`)
  db.close()
}

/** What is asked in this thread until the work is done, as SQL: of any database that is open in it. */
async function askedHere(work: () => Promise<unknown>): Promise<readonly string[]> {
  const asked: string[] = []
  const ways = (['get', 'all', 'run', 'iterate'] as const).map((way) => {
    const real = StatementSync.prototype[way] as (...values: unknown[]) => unknown
    return vi.spyOn(StatementSync.prototype, way).mockImplementation(function (
      this: StatementSync,
      ...values: unknown[]
    ) {
      asked.push(this.sourceSQL)
      return real.apply(this, values) as never
    })
  })
  try {
    await work()
    return asked
  } finally {
    for (const way of ways) way.mockRestore()
  }
}

/** Services of other tests look for news meanwhile. */
const countedHere = async (work: () => Promise<unknown>): Promise<readonly string[]> =>
  (await askedHere(work)).filter((sql) => /\b(agents|sum|count)\b/.test(sql))

beforeEach(async () => {
  directory = temporaryDirectory()
  process.once('worker', (worker: Worker) => {
    thread = worker
  })
  store = await open()
  await store.bear(birth('atlas'), unlimited, 1)
})

afterEach(async () => {
  await store.close()
  rmSync(directory, { recursive: true })
})

test('a store that only reads starts no thread, nor does a service that starts again', async () => {
  await store.sharedSecret('statements', 'the first')
  await store.close()
  const started = vi.fn()
  process.on('worker', started)
  onTestFinished(() => void process.off('worker', started))
  store = await open()
  expect((await store.readMemory(identity, 'none')).outcome).toBe('missing')
  expect(await keepSigningKey(store)).toBe('the first')
  expect(started).not.toHaveBeenCalled()
  expect(await store.status()).toMatchObject({ agents: 1, memories: 0 })
  expect(started).toHaveBeenCalledOnce()
})

test('a store that was only read leaves one file, as every other does', async () => {
  await store.close()
  store = await open()
  expect((await store.readMemory(identity, 'none')).outcome).toBe('missing')
  expect(readdirSync(directory)).toContain('home.db-wal')
  await store.close()
  expect(readdirSync(directory).filter((name) => name.startsWith('home.db-'))).toEqual([])
  store = await open()
})

test('writes that wait together are committed together', async () => {
  const { commits } = await store.status()
  await Promise.all(Array.from({ length: 200 }, (_, i) => write(`k${i}`)))
  expect((await store.status()).commits - commits).toBeLessThan(20)
})

test('writes of one key keep their order', async () => {
  const answers = await Promise.all(Array.from({ length: 100 }, (_, i) => write('k', i)))
  expect(answers.map((answer) => answer.outcome)).toEqual(Array(100).fill('saved'))
  expect(await store.readMemory(identity, 'k')).toMatchObject({ memory: { version: 100 } })
})

test('a write that fails does not fail its neighbours', async () => {
  const [before, wrong, after] = await Promise.allSettled([
    write('before'),
    store.bear(birth('stray', { join: 'no such account' }), unlimited, 1),
    write('after'),
  ])
  expect(wrong).toMatchObject({
    status: 'rejected',
    reason: { message: expect.stringContaining('the account was deleted') },
  })
  expect([before, after]).toMatchObject([{ status: 'fulfilled' }, { status: 'fulfilled' }])
  expect(await store.readMemory(identity, 'after')).toMatchObject({ outcome: 'found' })
  expect(await store.identify('stray-agent')).toBeUndefined()
})

test('the queue is bounded: writes over it are refused, those in it are kept', async () => {
  const answers = await Promise.allSettled(Array.from({ length: 3_000 }, (_, i) => write(`k${i}`)))
  const refused = answers.filter((answer) => answer.status === 'rejected')
  expect(refused.length).toBeGreaterThan(0)
  for (const { reason } of refused) expect(reason).toBeInstanceOf(StoreOverloaded)
  expect((await store.status()).memories).toBe(3_000 - refused.length)
})

test('the gateway and who asks for health cannot take the home’s places', async () => {
  const entry = (n: number) => ({
    ...{ id: `e${n}`, feed: 'whisper', room: 'shepit-wall', text: 'w' },
    ...{ identity: 'anonymous', identityType: 'ai', details: '{}', createdAt: 1, labels: [] },
  })
  const others = Promise.allSettled(
    Array.from({ length: 3_000 }, (_, n) =>
      n % 2 ? store.checkWritable(1) : store.leaveEntry(entry(n)),
    ),
  )
  const mine = await Promise.all(Array.from({ length: 500 }, (_, n) => write(`k${n}`)))
  expect(new Set(mine.map(({ outcome }) => outcome))).toEqual(new Set(['saved']))
  expect((await others).some(({ status }) => status === 'rejected')).toBe(true)
})

test('closing waits for the writes under way', async () => {
  const written = write('last')
  await store.close()
  expect(await written).toMatchObject({ outcome: 'saved' })
  store = await open()
  expect(await store.readMemory(identity, 'last')).toMatchObject({ outcome: 'found' })
})

test('a closed store takes no more writes', async () => {
  await store.close()
  await expect(write('late')).rejects.toBeInstanceOf(StoreUnavailable)
  store = await open()
})

test('the log is moved into the database as it grows', async () => {
  const text = 'x'.repeat(15_000)
  for (let version = 0; version < 60; version++) {
    const writes = Array.from({ length: 50 }, (_, i) => ({ ...memory(`k${i}`, version), text }))
    await Promise.all(writes.map((each) => store.writeMemory(identity, each, 1)))
  }
  expect(statSync(join(directory, 'home.db-wal')).size).toBeLessThan(16 * 1024 * 1024)
})

test('when the writer ends, what waited is unknown and the next write finds another', async () => {
  const lost = expect(write('lost')).rejects.toBeInstanceOf(OutcomeUnknown)
  const ended = once(thread, 'exit')
  await thread.terminate()
  await Promise.all([lost, ended])
  expect(await write('next')).toMatchObject({ outcome: 'saved' })
})

test('an erasure whose writer ends before its files are cleaned has them cleaned by the next', async () => {
  await write('gone')
  const post = thread.postMessage.bind(thread)
  vi.spyOn(thread, 'postMessage').mockImplementation((message) => {
    if (message === 'clean') void thread.terminate()
    else post(message)
  })
  const operator = { ...identity, kind: 'operator', tokenHash: 'atlas-operator' } as const
  const erased = await store.eraseMemory(operator, 'gone', 'all', 1)
  expect(erased).toMatchObject({ outcome: 'erased', versions: [1] })
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const file = join(directory, entry.name)
    if (entry.isFile()) expect(readFileSync(file, 'latin1')).not.toContain('version 1')
  }
})

test('after a write whose outcome is unknown, what is stored is counted anew', async () => {
  await write('kept')
  const log = () => statSync(join(directory, 'home.db-wal')).size
  const before = log()
  const writing = Array.from({ length: 50 }, (_, i) => write(`k${i}`).catch(() => undefined))
  const ended = once(thread, 'exit')
  await new Promise(setImmediate)
  // They are committed, and nobody has heard of it: the event loop stands still.
  for (let looks = 0; log() === before && looks < 10_000_000; looks++);
  await thread.terminate()
  await Promise.all([...writing, ended])
  const { memories } = await store.status()
  expect(memories).toBe(1 + (await keysStored()))
  expect(await store.status()).toMatchObject({ agents: 1, memories })
})

test('agents are never counted on the event loop', async () => {
  await store.close()
  fill(1_000)
  store = await open()
  const counted = () => store.status()
  expect(await countedHere(counted)).toEqual([])
  await write('k')
  expect(await countedHere(counted)).toEqual([])
  expect(await store.status()).toMatchObject({ agents: 1_001, memories: 2_001 })
  // What a read asks for is seen here.
  const asked = await askedHere(() => store.readMemory(identity, 'k'))
  expect(asked.some((sql) => sql.includes('FROM memories'))).toBe(true)
})
