/**
 * Follow new entries as they arrive. One look at the store serves all listeners: what is new is kept for a
 * while for all of them, and who falls behind that reads from the store at its own pace. Looking,
 * not telling, also finds what other processes left.
 */
import type { GatewayStore } from '../../store/port/gateway.ts'
import { coalesce } from './coalesce.ts'
import { createRecent, type Event, eventOf } from './recent.ts'

export interface StreamPace {
  /** Between two looks at the store when nobody here left anything. */
  readonly pollMs: number
  readonly heartbeatMs: number
  readonly maxListeners: number
}

export const streamPace: StreamPace = {
  pollMs: 1_000,
  heartbeatMs: 15_000,
  maxListeners: 4_000,
}

/**
 * Read and sent at once: little enough for many stalled readers to hold as much each. A long event
 * ends its batch; short ones go together, for a write costs more than the event in it.
 */
const BATCH_ENTRIES = 100
const BATCH_BYTES = 32_768

const HEARTBEAT = ':\n\n'

export interface Listener {
  readonly events: AsyncIterable<string>
  readonly leave: () => void
}

export interface Broadcast {
  readonly full: () => boolean
  /** What arrives after this entry, and a heartbeat where nothing does. */
  readonly follow: (after: string) => Listener
  /** Something was left here: look at once. */
  readonly lookAgain: () => void
  /** Ends every stream, for good. */
  readonly close: () => void
}

/** What all listeners wait for. */
function createPulse() {
  let beats = 0
  let next = Promise.withResolvers<void>()
  const wake = () => {
    next.resolve()
    next = Promise.withResolvers()
  }
  return {
    wake,
    next: () => next.promise,
    beats: () => beats,
    beat() {
      beats++
      wake()
    },
  }
}

/** Looks at the store for as long as anybody listens. */
function createWatch(store: GatewayStore, pace: StreamPace) {
  const recent = createRecent()
  const pulse = createPulse()
  let begun: Promise<void> | undefined
  let watching = false
  let timers: NodeJS.Timeout[] = []

  const readAfter = async (id: string): Promise<readonly Event[]> =>
    (await store.entriesAfter(id, BATCH_ENTRIES, BATCH_BYTES)).map(eventOf)

  const look = coalesce(async () => {
    for (;;) {
      const found = await readAfter(recent.newest())
      if (found.length === 0) return
      recent.add(found)
      pulse.wake()
    }
  })
  const lookAgain = () => {
    if (watching) look()
  }

  async function begin(): Promise<void> {
    timers = [setInterval(lookAgain, pace.pollMs), setInterval(pulse.beat, pace.heartbeatMs)]
    recent.beginAt(await store.lastArrival())
    watching = begun !== undefined
  }

  return {
    pulse,
    lookAgain,
    begin() {
      begun ??= begin()
      return begun
    },
    end() {
      for (const timer of timers) clearInterval(timer)
      begun = undefined
      watching = false
      // Those who left and still wait for what arrives.
      pulse.wake()
    },
    eventsAfter: async (id: string): Promise<readonly Event[]> =>
      id >= recent.floor() ? recent.since(id, BATCH_BYTES) : readAfter(id),
  }
}

export function createBroadcast(store: GatewayStore, pace: StreamPace): Broadcast {
  const watch = createWatch(store, pace)
  const { pulse } = watch
  const listeners = new Set<symbol>()
  let closed = false

  async function* listen(listener: symbol, after: string): AsyncGenerator<string> {
    await watch.begin()
    let position = after
    let heard = pulse.beats()
    while (!closed && listeners.has(listener)) {
      const next = pulse.next()
      const events = await watch.eventsAfter(position)
      if (events.length === 0 && heard === pulse.beats()) await next
      else {
        position = events.at(-1)?.id ?? position
        heard = pulse.beats()
        yield events.map(({ text }) => text).join('') || HEARTBEAT
      }
    }
  }

  return {
    full: () => closed || listeners.size >= pace.maxListeners,
    follow(after) {
      const listener = Symbol()
      listeners.add(listener)
      return {
        events: listen(listener, after),
        leave() {
          if (listeners.delete(listener) && listeners.size === 0) watch.end()
        },
      }
    },
    lookAgain: watch.lookAgain,
    close() {
      closed = true
      watch.end()
    },
  }
}
