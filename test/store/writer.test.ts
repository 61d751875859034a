import { once } from 'node:events'
import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { OutcomeUnknown, StoreOverloaded, StoreUnavailable } from '../../src/store/port/errors.ts'
import type { Birth, Identity } from '../../src/store/port/home.ts'
import type { Store } from '../../src/store/port/store.ts'
import { openSqlite } from '../../src/store/sqlite/store.ts'
import { temporaryDirectory } from '../harness.ts'

const unlimited = { perAddress: 0, inAll: 0, windowMs: 3_600_000 }

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

const open = () => openSqlite(`sqlite:${join(directory, 'home.db')}`, 1, { feedCapacity: 0 })
const write = (key: string, expectedVersion = 0) =>
  store.writeMemory(identity, memory(key, expectedVersion), 0, 1)

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
    reason: { message: expect.stringContaining('FOREIGN KEY') },
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
    await Promise.all(writes.map((each) => store.writeMemory(identity, each, 0, 1)))
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
