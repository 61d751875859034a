/** `agent-home sync --watch`: what is told while a round is under way, or was lost, is not missed. */
import { getEventListeners } from 'node:events'
import fs, {
  type FSWatcher,
  readFileSync,
  type WatchListener,
  type WatchOptions,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { AgentHome } from 'agent-home-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Folder } from '../../src/cli/remote/sync/folder.ts'
import { pathsUnder } from '../../src/cli/remote/sync/paths.ts'
import { Rounds } from '../../src/cli/remote/sync/rounds.ts'
import { openFolderState } from '../../src/cli/remote/sync/state.ts'
import {
  createBell,
  followHome,
  keepWatching,
  untilQuiet,
} from '../../src/cli/remote/sync/watching.ts'
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

test('a round that others interrupt each time is begun again a few times', async () => {
  let count = 0
  const round = async () => {
    if (++count === 100) throw new Error('it has no end')
    return { open: [], again: true, lacksRoom: false }
  }
  expect((await untilQuiet({ round } as unknown as Rounds)).again).toBe(true)
  expect(count).toBe(8)
})

test('a bell that waits leaves nothing on the signal', async () => {
  const { signal } = new AbortController()
  const bell = createBell(processTimers)
  const heard = bell.heard(AT_REST, signal)
  expect(getEventListeners(signal, 'abort')).toHaveLength(1)
  bell.ring()
  await heard
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

/** What tells nothing, until it is asked no more. */
const silent = (init?: RequestInit): Promise<Response> =>
  new Promise((_, reject) =>
    init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)),
  )

/** Milliseconds that programs have for the several steps of a file. */
const SETTLE = 200

/** Watching, until it is ended within one of its pauses; what it tells. */
async function watchedUntil(
  { folder, following }: Pick<Awaited<ReturnType<typeof kept>>, 'folder' | 'following'>,
  pause: Timers['pause'],
): Promise<string[]> {
  const told: string[] = []
  const settled: Timers['pause'] = async (ms, signal) => {
    if (ms !== SETTLE) await pause(ms, signal)
  }
  const timers = { ...processTimers, pause: settled }
  const terminal = { tell: (text: string) => void told.push(text) }
  await keepWatching({ ...following, folder, terminal, timers, show: () => {} }).catch(() => {})
  return told
}

/** A home that tells nothing. */
const quiet: typeof fetch = (input, init) =>
  String(input).endsWith('/stream') ? silent(init) : fetch(input, init)

test('a home that is away twice is waited for anew, and each time that is said once', async () => {
  let isAway = true
  const { rounds, end, ...watching } = await kept(async (...asked) => {
    if (!isAway || String(asked[0]).endsWith('/stream')) return quiet(...asked)
    throw Object.assign(new TypeError('fetch failed'), { code: 'ECONNREFUSED' })
  })
  const pauses: number[] = []
  const told = await watchedUntil(watching, async (ms) => {
    pauses.push(ms)
    isAway = pauses.length !== 2
    if (ms === AT_REST) rounds.changedAtHome({ key: 'a' })
    if (pauses.length === 5) await end()
  })
  expect(pauses).toEqual([1_000, 2_000, AT_REST, 1_000, 2_000])
  const away = expect.stringMatching(/ Retrying\.\n$/)
  expect(told).toEqual([away, 'The home answers again.\n', away])
})

describe('a directory', () => {
  type Watch = (root: string, options: WatchOptions, tell: Tell) => FSWatcher
  type Tell = WatchListener<string | NonSharedBuffer>

  /** While Node's own is this. */
  async function whileWatch(other: Watch, work: () => Promise<void>): Promise<void> {
    const own = fs.watch
    const put = (watch: unknown) => {
      Object.assign(fs, { watch })
      syncBuiltinESMExports()
    }
    put(other)
    try {
      await work()
    } finally {
      put(own)
    }
  }

  test('of which the system tells nothing is looked at every few seconds', async () => {
    const refused: Watch = () => {
      throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' })
    }
    const { end, ...watching } = await kept(quiet)
    const pauses: number[] = []
    await whileWatch(refused, async () => {
      await watchedUntil(watching, async (ms) => {
        pauses.push(ms)
        if (pauses.length === 2) await end()
      })
    })
    expect(pauses).toEqual([2_000, 2_000])
  })

  test('is looked at when the system names nothing, or fails, and is let go at the end', async () => {
    const { end, ...watching } = await kept(quiet)
    const { watch } = fs
    let isLetGo = false
    const told = Promise.withResolvers<{ tell: Tell; watcher: FSWatcher }>()
    const noted: Watch = (root, options, tell) => {
      // Its own, of each directory below.
      if (!options.recursive) return watch(root, options, tell)
      const watcher = watch(root, options, () => {})
      watcher.on('close', () => {
        isLetGo = true
      })
      told.resolve({ tell, watcher })
      return watcher
    }
    const happens: ((told: { tell: Tell; watcher: FSWatcher }) => unknown)[] = [
      ({ tell }) => tell('rename', null),
      ({ watcher }) => watcher.listenerCount('error') > 0 && watcher.emit('error', new Error('X')),
      ({ tell }) => tell('rename', 'd/p.theirs'),
      ({ tell }) => tell('change', join('.agent-home', 'ignore')),
      ({ tell }) => tell('change', '.agent-home/state.db'),
    ]
    const rung: boolean[] = []
    await whileWatch(noted, async () => {
      await watchedUntil(watching, async (_, signal) => {
        const happened = happens[rung.length]
        if (!happened) return end()
        happened(await told.promise)
        rung.push(signal?.aborted === true)
      })
    })
    expect(rung).toEqual([true, true, true, true, false])
    await new Promise((resolve) => setImmediate(resolve))
    expect(isLetGo).toBe(true)
  })
})
