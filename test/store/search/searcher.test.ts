/** The searching thread: when it runs, and what becomes of a search whose thread ends. */
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { StoreUnavailable } from '../../../src/store/port/errors.ts'
import type { Identity } from '../../../src/store/port/home.ts'
import type { MemoriesQuery, MemorySummary } from '../../../src/store/port/keeping/memories.ts'
import type { SearchAnswer, SearchCursor } from '../../../src/store/port/keeping/search.ts'
import type { Store } from '../../../src/store/port/store.ts'
import { searchThrough } from '../../../src/store/search/look.ts'
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

/** Memories as they are listed, and as they are when they are read. */
function changing(listed: readonly string[], read: Readonly<Record<string, object>>) {
  const memory = (key: string): MemorySummary & { text: string } => ({
    ...{ id: key, key, bytes: 4, metadata: '{"pinned":true}', version: 1 },
    ...{ createdAt: 0, updatedAt: 0, change: 1, text: 'step' },
  })
  return {
    list: async () =>
      ({ outcome: 'memories', memories: listed.map(memory), next: undefined }) as const,
    read: async (key: string) =>
      read[key] === undefined
        ? ({ outcome: 'missing' } as const)
        : ({ outcome: 'found', memory: { ...memory(key), ...read[key] } } as const),
    stopwatch: () => 0,
  }
}

const keysOf = (found: SearchAnswer) =>
  found.outcome === 'hits' ? found.hits.map(({ key }) => key) : found

test('what was changed after it was looked at is shown only where it still matches', async () => {
  const now = { a: {}, b: { text: 'other' }, c: { metadata: '{}' } }
  const sources = () => changing(['a', 'b', 'c', 'gone'], now)
  expect(keysOf(await searchThrough(sources(), query))).toEqual(['a', 'c'])
  expect(keysOf(await searchThrough(sources(), { ...query, pinned: true }))).toEqual(['a'])
})

test('a look that is looked again shows nothing from beyond its end', async () => {
  const sources = changing(['k1', 'k2', 'k3', 'k4', 'k5'], { k2: {}, k3: {}, k4: {}, k5: {} })
  const after = { looked: '', until: 'k3', shown: 1, last: 'k1' }
  const found = await searchThrough(sources, { ...query, after })
  expect(keysOf(found)).toEqual(['k2', 'k3'])
  expect(found).toMatchObject({ next: { looked: 'k3', until: '', shown: 0, last: '' } })
})
