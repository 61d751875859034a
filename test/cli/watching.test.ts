/** `agent-home sync --watch`: what is told while a round is under way, or was lost, is not missed. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AgentHome } from 'agent-home-client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Folder } from '../../src/cli/remote/sync/folder.ts'
import { pathsUnder } from '../../src/cli/remote/sync/paths.ts'
import { Rounds } from '../../src/cli/remote/sync/rounds.ts'
import { openFolderState } from '../../src/cli/remote/sync/state.ts'
import { followHome, keepWatching } from '../../src/cli/remote/sync/watching.ts'
import { processTimers, type Timers } from '../../src/timers.ts'
import { type OpenedHome, openHome } from '../client/opened.ts'
import { filesIn, freshFolder, removeFolders } from './sync.ts'

let opened: OpenedHome
beforeAll(async () => {
  opened = await openHome({ EVENTS_PER_AGENT: '3' })
})
afterAll(async () => {
  await opened.close()
  removeFolders()
})

/** No pause but the one that waits for something to happen. */
const AT_REST = 60_000
const atOnce: Timers = { ...processTimers, pause: async () => {} }

async function kept(fetching: typeof fetch = fetch) {
  const { home: other, token } = await opened.born()
  const home = new AgentHome({ url: opened.url, token, fetch: fetching, retries: 0 })
  const directory = freshFolder()
  const folder = new Folder(directory)
  const stop = new AbortController()
  const state = openFolderState(join(directory, '.agent-home/state.db'))
  const rounds = new Rounds({
    ...{ home, folder, state, paths: pathsUnder(''), readOnly: false, mayDelete: false },
    ...{ tell: () => {}, progress: () => {}, signal: stop.signal },
  })
  const following = { home, rounds, signal: stop.signal, timers: atOnce, after: 0 }
  return {
    ...{ other, directory, folder, rounds, following },
    /** Until it rings. */
    async follow(after: number): Promise<void> {
      const [heard, enough] = [Promise.withResolvers<void>(), new AbortController()]
      const until = { ...following, after, signal: enough.signal }
      const ended = followHome(until, { ring: heard.resolve }).catch(() => {})
      await heard.promise
      enough.abort()
      await ended
    },
    async end(): Promise<void> {
      stop.abort()
      state.close()
    },
  }
}

test('of a rename both keys are looked at', async () => {
  const { other, directory, rounds, follow, end } = await kept()
  await other.write('a', 'a', { expectedVersion: 0 })
  await rounds.round()
  await other.rename('a', 'b', { expectedVersion: 1 })
  await follow(1)
  await rounds.round()
  expect(filesIn(directory)).toEqual({ b: 'a' })
  await end()
})

test('what the log no longer told is found all the same', async () => {
  const { other, directory, rounds, follow, end } = await kept()
  await other.write('a', 'a', { expectedVersion: 0 })
  await rounds.round()
  await other.write('a', 'changed', { expectedVersion: 1 })
  for (let n = 0; n < 3; n++) {
    await other.batch(Array.from({ length: 50 }, () => ({ append: { key: 'log', text: '.' } })))
  }
  await follow(1)
  await rounds.round()
  expect(readFileSync(join(directory, 'a'), 'utf8')).toBe('changed')
  await end()
})

test('after a home that was away it goes on with the event after the last', async () => {
  const asked: (string | null)[] = []
  const pauses: number[] = []
  const told = () => new Response('id: 7\ndata: {"id":7,"type":"write","key":"a"}\n\n')
  const answers = [undefined, undefined, told]
  const { following, end } = await kept(async (_, init) => {
    asked.push(new Headers(init?.headers).get('last-event-id'))
    const next = answers.shift()
    if (next) return next()
    if (asked.length === 5) await end()
    throw new TypeError('fetch failed')
  })
  const timers = { ...atOnce, pause: async (ms: number) => void pauses.push(ms) }
  await followHome({ ...following, timers, after: 5 }, { ring: () => {} }).catch(() => {})
  expect(asked).toEqual(['5', '5', '5', '7', '7'])
  // What it tells begins the pauses anew.
  expect(pauses.slice(0, 3)).toEqual([1_000, 2_000, 1_000])
})

test('what happens there during a round is received before it rests', async () => {
  const passed = Promise.withResolvers<void>()
  const isPassed = new TransformStream<Uint8Array, Uint8Array>({
    transform(piece, controller) {
      controller.enqueue(piece)
      // Those that read it have their turn.
      if (Buffer.from(piece).includes('"theirs"')) setImmediate(passed.resolve)
    },
  })
  let isFirst = true
  const { other, directory, folder, following, end } = await kept(async (input, init) => {
    const response = await fetch(input, init)
    if (String(input).endsWith('/stream')) {
      return new Response(response.body?.pipeThrough(isPassed) ?? null, response)
    }
    if (String(input).endsWith('/batch') && isFirst) {
      isFirst = false
      await other.write('theirs', 'theirs', { expectedVersion: 0 })
      await passed.promise
    }
    return response
  })
  writeFileSync(join(directory, 'mine'), 'mine')
  const rested = Promise.withResolvers<void>()
  const pause: Timers['pause'] = (ms, signal) => {
    if (ms !== AT_REST) return Promise.resolve()
    rested.resolve()
    return processTimers.pause(ms, signal)
  }
  const terminal = { tell: () => {} }
  const timers = { ...processTimers, pause }
  const watching = keepWatching({ ...following, folder, terminal, timers, show: () => {} })
  const ended = watching.catch(() => {})
  await rested.promise
  expect(filesIn(directory)).toEqual({ mine: 'mine', theirs: 'theirs' })
  await end()
  await ended
})
