/** Rounds whenever something happens on either side, until it is stopped. */
import { type FSWatcher, watch } from 'node:fs'
import { join } from 'node:path'
import type { AgentHome } from 'agent-home-client'
import type { Timers } from '../../../timers.ts'
import type { Terminal } from '../../terminal.ts'
import { type Folder, OWN } from './folder.ts'
import { IGNORE } from './ignore.ts'
import { isIgnored, THEIRS } from './paths.ts'
import { mayPass, type Round, type Rounds } from './rounds.ts'

/** Rounds in a row that other writers interrupt, before it stops for now. */
const MOST_ROUNDS = 8

export async function untilQuiet(rounds: Rounds): Promise<Round> {
  for (let count = 1; ; count++) {
    const round = await rounds.round()
    if (!round.again || count === MOST_ROUNDS) return round
  }
}

/** Wakes a waiting loop. */
export function createBell({ pause }: Timers) {
  let ring = () => {}
  let isRung = false
  return {
    ring(): void {
      isRung = true
      ring()
    },
    /** Resolves when it rings, at once if it did; after `ms` at the latest. */
    async heard(ms: number, signal: AbortSignal): Promise<void> {
      if (isRung) return
      const waiting = new AbortController()
      const wake = () => waiting.abort()
      ring = wake
      signal.addEventListener('abort', wake)
      await pause(ms, waiting.signal).catch(() => {})
      signal.removeEventListener('abort', wake)
    },
    quiet(): void {
      isRung = false
    },
  }
}

type Bell = ReturnType<typeof createBell>

/** Milliseconds. Programs write files in several steps. */
const SETTLE = 200

/** The file system loses events, and some tell none. */
const RESCAN = 60_000
const RESCAN_UNWATCHED = 2_000

const isOurs = (name: string): boolean =>
  name !== join(OWN, IGNORE) &&
  name.split(/[/\\]/).some((each) => isIgnored(each) && !each.endsWith(THEIRS))

/** Undefined: the system does not tell of changes. */
function watchFolder(root: string, bell: Bell): FSWatcher | undefined {
  try {
    const watcher = watch(root, { recursive: true }, (_, name) => {
      if (name === null || !isOurs(name)) bell.ring()
    })
    return watcher.on('error', () => bell.ring())
  } catch {
    return undefined
  }
}

const RETRY = { first: 1_000, most: 30_000 }

interface Following {
  readonly home: AgentHome
  readonly rounds: Rounds
  readonly signal: AbortSignal
  readonly timers: Timers
  /** The last event before the home was first looked at. */
  readonly after: number
}

/** Tells of what happens in the home; after a break, from the event where it was. */
export async function followHome(
  { home, rounds, signal, timers, after: first }: Following,
  bell: Pick<Bell, 'ring'>,
): Promise<never> {
  let after = first
  for (let pause = RETRY.first; ; pause = Math.min(RETRY.most, pause * 2)) {
    try {
      const events = home.watch({ signal, after })
      for await (const event of events) {
        pause = RETRY.first
        if (event.type === 'missed') {
          rounds.lookAnew()
          bell.ring()
          continue
        }
        after = event.id
        const { key, from, version } = event
        const isNews = [
          key !== undefined && rounds.changedAtHome({ key, ...(version && { version }) }),
          from !== undefined && rounds.changedAtHome({ key: from }),
        ]
        if (isNews.some(Boolean)) bell.ring()
      }
    } catch (error) {
      if (!mayPass(error)) throw error
      await timers.pause(pause, signal)
      bell.ring()
    }
  }
}

export interface Watching extends Following {
  readonly folder: Folder
  readonly terminal: Pick<Terminal, 'tell'>
  readonly show: (round: Round) => void
}

/** Rounds whenever something happens, until it is stopped. */
export async function keepWatching(watching: Watching): Promise<never> {
  const { folder, rounds, terminal, show, signal, timers } = watching
  const bell = createBell(timers)
  const watcher = watchFolder(folder.root, bell)
  const failed = Promise.withResolvers<never>()
  followHome(watching, bell).catch(failed.reject)
  failed.promise.catch(() => {})
  let isAway = false
  try {
    for (let pause: number = RETRY.first; ; ) {
      bell.quiet()
      try {
        show(await untilQuiet(rounds))
        if (isAway) terminal.tell('The home answers again.\n')
        isAway = false
        pause = RETRY.first
      } catch (error) {
        if (!mayPass(error)) throw error
        if (!isAway) terminal.tell(`${(error as Error).message} Retrying.\n`)
        isAway = true
        rounds.lookAnew()
        await Promise.race([failed.promise, timers.pause(pause, signal)])
        pause = Math.min(RETRY.most, pause * 2)
        continue
      }
      const rescan = watcher ? RESCAN : RESCAN_UNWATCHED
      await Promise.race([failed.promise, bell.heard(rescan, signal)])
      signal.throwIfAborted()
      await timers.pause(SETTLE, signal)
    }
  } finally {
    watcher?.close()
  }
}
