/** The searching thread: when it runs, what becomes of a search whose thread ends, and who waits. */
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { StoreUnavailable } from '../../../src/store/port/errors.ts'
import type { Identity } from '../../../src/store/port/home.ts'
import type { MemoriesQuery, MemorySummary } from '../../../src/store/port/keeping/memories.ts'
import type { SearchCursor } from '../../../src/store/port/keeping/search.ts'
import type { Store } from '../../../src/store/port/store.ts'
import { searchThrough } from '../../../src/store/search/look.ts'
import { takingTurns } from '../../../src/store/search/queue.ts'
import { type Searcher, startSearcher } from '../../../src/store/sqlite/engine/searcher.ts'
import { openSqlite } from '../../../src/store/sqlite/store.ts'
import { temporaryDirectory } from '../../harness.ts'
import { unbounded } from '../../unbounded.ts'
import { newBirth, newWrite, noLimits } from '../fixture.ts'

const query = { q: 'step', prefix: '', limit: 10 }
const IDLE_MS = 5

let directory: string
let store: Store
let agent: Identity
let searcher: Searcher
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
  searcher = startSearcher(path, IDLE_MS)
})

afterEach(async () => {
  process.off('worker', keep)
  await searcher.close()
  await store.close()
  rmSync(directory, { recursive: true })
})

test('nothing runs before the first search, and nothing once it is idle', async () => {
  expect(started).toHaveLength(0)
  expect(await searcher.search(agent, query)).toMatchObject({ hits: [{ key: 'plan' }] })
  const [thread] = started
  if (thread) await once(thread, 'exit')
  expect(await searcher.search(agent, query)).toMatchObject({ hits: [{ key: 'plan' }] })
  expect(started).toHaveLength(2)
})

test('a search whose thread ends is unavailable, and the next finds another', async () => {
  const lost = expect(searcher.search(agent, query)).rejects.toBeInstanceOf(StoreUnavailable)
  const [thread] = (await once(process, 'worker')) as [Worker]
  await thread.terminate()
  await lost
  expect(await searcher.search(agent, query)).toMatchObject({ outcome: 'hits' })
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

/** Each memory takes its time. */
function slowly() {
  let now = 0
  const memory = (key: string): MemorySummary => ({
    ...{ id: key, key, bytes: 1, metadata: '{}', version: 1, createdAt: 0, updatedAt: 0 },
    ...{ change: 1, text: 'x' },
  })
  return {
    list: async ({ after = 'k0' }: MemoriesQuery) => {
      now += 600
      const key = `k${Number(after.slice(1)) + 1}`
      return { outcome: 'memories', memories: [memory(key)], next: key, lastEvent: 0 } as const
    },
    read: async () => ({ outcome: 'missing' }) as const,
    stopwatch: () => now,
  }
}

test('a look that takes long ends where it is, and the next goes on there', async () => {
  const looked = async (after?: SearchCursor) => {
    const found = await searchThrough(slowly(), { ...query, q: 'nothing', after })
    return found.outcome === 'hits' ? found.next : found
  }
  const first = { looked: 'k2', until: '', shown: 0, last: '' }
  expect(await looked()).toEqual(first)
  expect(await looked(first)).toEqual({ ...first, looked: 'k4' })
})

test('a look that is looked again goes as far as it went, or is given up', async () => {
  const again = (until: string) =>
    searchThrough(slowly(), { ...query, after: { looked: '', until, shown: 1, last: 'k1' } })
  expect(await again('k3')).toMatchObject({ next: { looked: 'k3' } })
  await expect(again('k9')).rejects.toBeInstanceOf(StoreUnavailable)
})

test('of one agent one search runs at a time, of others some beside it', async () => {
  const running: string[] = []
  const ends: (() => void)[] = []
  const search = takingTurns(async ({ agentId }) => {
    running.push(agentId)
    await new Promise<void>((resolve) => ends.push(resolve))
    return { outcome: 'hits', hits: [], next: undefined }
  })
  const asked = ['a', 'a', 'b', 'c', 'd', 'e'].map((agentId) =>
    search({ ...agent, agentId }, query),
  )
  expect(running).toEqual(['a', 'b', 'c', 'd'])
  ends[0]?.()
  await asked[0]
  await new Promise(setImmediate)
  expect(running).toEqual(['a', 'b', 'c', 'd', 'a'])
  for (let n = 1; n < asked.length; n++) {
    ends[n]?.()
    await new Promise(setImmediate)
  }
  expect(await Promise.all(asked)).toHaveLength(6)
})
