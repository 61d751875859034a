/** The searching thread: when it runs, and what becomes of a search whose thread ends. */
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { StoreUnavailable } from '../../../src/store/port/errors.ts'
import type { Identity } from '../../../src/store/port/identity.ts'
import type { Store } from '../../../src/store/port/store.ts'
import { type Searcher, startSearcher } from '../../../src/store/search/searcher.ts'
import { openSqlite } from '../../../src/store/sqlite/store.ts'
import { temporaryDirectory } from '../../harness.ts'
import { type ManualTimers, manualTimers } from '../../manual-timers.ts'
import { unbounded } from '../../unbounded.ts'
import { newBirth, newWrite, noLimits } from '../fixture.ts'

const query = { q: 'step', prefix: '', limit: 10 }
const IDLE_MS = 600_000

let directory: string
let store: Store
let agent: Identity
let searcher: Searcher
let manual: ManualTimers
const started: Worker[] = []
const keep = (worker: Worker) => void started.push(worker)

beforeEach(async () => {
  directory = temporaryDirectory()
  const path = join(directory, 'home.db')
  store = await openSqlite(`sqlite:${path}`, 1, unbounded)
  const birth = newBirth()
  await store.bear(birth, noLimits, 1)
  agent = {
    agentId: birth.agentId,
    kind: 'agent',
    tokenHash: birth.agentTokenHash,
    status: 'active',
  }
  await store.writeMemory(agent, newWrite(), 1)
  started.length = 0
  process.on('worker', keep)
  const beside = import.meta.resolve('../../../src/store/sqlite/store.ts')
  const workerData = { path, cacheBytes: 1_048_576 }
  manual = manualTimers()
  searcher = startSearcher({ name: 'search-thread', beside, workerData }, manual.timers)
})

afterEach(async () => {
  process.off('worker', keep)
  await searcher.close()
  await store.close()
  rmSync(directory, { recursive: true })
})

test('nothing runs before the first search, and another thread once it is idle', async () => {
  expect(started).toHaveLength(0)
  expect(await searcher.search(agent, query)).toMatchObject({ hits: [{ key: 'plan' }] })
  manual.pass(IDLE_MS - 1)
  expect(started).toHaveLength(1)
  const [thread] = started
  manual.pass(1)
  if (thread) await once(thread, 'exit')
  expect(started).toHaveLength(2)
  expect(await searcher.search(agent, query)).toMatchObject({ hits: [{ key: 'plan' }] })
})

test('a search that was prepared starts no thread', async () => {
  const worker = once(process, 'worker')
  searcher.prepare()
  await worker
  expect(await searcher.search(agent, query)).toMatchObject({ hits: [{ key: 'plan' }] })
  expect(started).toHaveLength(1)
})

test('a search whose thread ends is unavailable, and the next finds another', async () => {
  const lost = expect(searcher.search(agent, query)).rejects.toBeInstanceOf(StoreUnavailable)
  const [thread] = (await once(process, 'worker')) as [Worker]
  await thread.terminate()
  await lost
  expect(await searcher.search(agent, query)).toMatchObject({ outcome: 'hits' })
  // Nobody waits for the lost answer any more: the thread is idle, and is replaced in time.
  expect(manual.waits()).toEqual([IDLE_MS])
})

test('a thread that others still wait for is not idle', async () => {
  // It answers each when the next comes.
  const file = { name: 'late-thread', beside: import.meta.url, workerData: undefined }
  const late = startSearcher(file, manual.timers)
  const first = late.search(agent, query)
  const second = late.search(agent, query)
  expect(await first).toMatchObject({ outcome: 'hits' })
  expect(manual.waits()).toEqual([])
  await late.forget(agent.agentId)
  expect(await second).toMatchObject({ outcome: 'hits' })
  expect(manual.waits()).toEqual([IDLE_MS])
  const third = late.search(agent, query)
  expect(manual.waits()).toEqual([])
  await late.forget(agent.agentId)
  expect(await third).toMatchObject({ outcome: 'hits' })
  await late.close()
})

test('a closed searcher takes no more', async () => {
  await searcher.close()
  await expect(searcher.search(agent, query)).rejects.toBeInstanceOf(StoreUnavailable)
})

test('a memory that was written before is found, whoever wrote it', async () => {
  await searcher.search(agent, query)
  await store.writeMemory(agent, newWrite({ key: 'new' }), 1)
  expect(await searcher.search(agent, query)).toMatchObject({ hits: [{ key: 'new' }, {}] })
})

test('nothing is started to forget what no thread keeps', async () => {
  await searcher.forget(agent.agentId)
  expect(started).toHaveLength(0)
})

test('what is forgotten is read anew', async () => {
  const looked = async () => {
    const answer = await searcher.search(agent, query)
    return answer.outcome === 'hits' ? answer.looked : answer
  }
  const shown = 'Step 1{}'.length
  expect(await looked()).toBe(2 * shown)
  const kept = looked()
  await searcher.forget(agent.agentId)
  expect(await kept).toBe(shown)
  expect(await looked()).toBe(2 * shown)
})
