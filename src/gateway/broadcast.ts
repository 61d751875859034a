/**
 * Distributes new entries. One poll of the store serves all listeners from a shared buffer; a
 * listener that falls behind reads from the store itself. Polling also finds entries from other
 * processes.
 */
import { eventText, HEARTBEAT } from '../http/event-stream.ts'
import { ifAnswered } from '../store/port/errors.ts'
import type { Entry, GatewayStore } from '../store/port/gateway.ts'
import type { Timers } from '../timers.ts'
import { inNextTurn, takeTurns } from '../turns.ts'
import { NOTICE } from './schemas.ts'
import { showAny } from './view.ts'

const MAX_CHARS = 1_048_576

interface Event {
  readonly id: string
  readonly text: string
}

const eventOf = (entry: Entry): Event => {
  const shown = showAny(entry)
  const { id } = entry
  return { id, text: eventText({ id, event: shown.kind, data: { notice: NOTICE, ...shown } }) }
}

function createRecent() {
  let events: Event[] = []
  let chars = 0
  let floor = ''
  return {
    /** Every event after this id is in the buffer. */
    floor: (): string => floor,
    newest: (): string => events.at(-1)?.id ?? floor,
    beginAt(id: string): void {
      events = []
      chars = 0
      floor = id
    },
    add(found: readonly Event[]): void {
      events.push(...found)
      for (const { text } of found) chars += text.length
      while (chars > MAX_CHARS) {
        const oldest = events.shift()
        if (!oldest) return
        chars -= oldest.text.length
        floor = oldest.id
      }
    },
    /** The next events after this id, ending with the one that reaches `maxChars`. */
    since(id: string, maxChars: number): readonly Event[] {
      const first = events.findLastIndex((event) => event.id <= id) + 1
      let end = first
      for (let left = maxChars; left > 0 && end < events.length; end++) {
        left -= events[end]?.text.length ?? 0
      }
      return events.slice(first, end)
    },
  }
}

/** Calls during a run cause one more run; calls of one event loop turn share one. */
function coalesce(work: () => Promise<void>): () => void {
  let running = false
  let again = false

  async function runWhileAsked(): Promise<void> {
    try {
      while (again) {
        again = false
        await work()
      }
    } catch {
      // The store is not available now; the next run catches up.
    } finally {
      running = false
    }
  }

  return () => {
    again = true
    if (running) return
    running = true
    inNextTurn(() => void runWhileAsked())
  }
}

export interface StreamTimings {
  /** Between polls if nothing was posted here. */
  readonly pollMs: number
  readonly heartbeatMs: number
  readonly maxListeners: number
}

export const streamTimings: StreamTimings = {
  pollMs: 1_000,
  heartbeatMs: 15_000,
  maxListeners: 4_000,
}

/**
 * Read and sent together: small enough that many stalled readers can each hold as much. A long
 * event ends its batch; short ones are sent together, because a write costs more than an event.
 */
const BATCH_ENTRIES = 100
const BATCH_BYTES = 32_768

/** Listeners that are served at once: an entry wakes all of them. */
export const SERVED = 16

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

/** Polls the store while there are listeners. */
function createPoller(
  store: GatewayStore,
  timings: StreamTimings,
  { every }: Pick<Timers, 'every'>,
) {
  const recent = createRecent()
  const pulse = createPulse()
  let watching = false
  /** A listener waits until the store answers again. */
  let unanswered = false
  let stops: (() => void)[] = []

  const readAfter = async (id: string): Promise<readonly Event[]> =>
    (await store.entriesAfter(id, BATCH_ENTRIES, BATCH_BYTES)).map(eventOf)

  const look = coalesce(async () => {
    for (;;) {
      const found = await readAfter(recent.newest())
      recent.add(found)
      if (found.length > 0 || unanswered) pulse.wake()
      unanswered = false
      if (found.length === 0) return
    }
  })
  const lookAgain = () => {
    if (watching) look()
  }

  async function readIfAnswered(id: string): Promise<readonly Event[]> {
    const found = await ifAnswered(readAfter(id))
    if (!found) unanswered = true
    return found ?? []
  }

  return {
    pulse,
    lookAgain,
    /** `newest`: the last arrival, or one before it. */
    begin(newest: string) {
      if (watching) return
      watching = true
      recent.beginAt(newest)
      stops = [every(timings.pollMs, lookAgain), every(timings.heartbeatMs, pulse.beat)]
    },
    end() {
      for (const stop of stops) stop()
      watching = false
      // Listeners that left while waiting.
      pulse.wake()
    },
    /** None if the store does not answer; then all are woken as soon as it does. */
    eventsAfter: async (id: string): Promise<readonly Event[]> =>
      id >= recent.floor() ? recent.since(id, BATCH_BYTES) : readIfAnswered(id),
  }
}

export function createBroadcast(
  store: GatewayStore,
  timings: StreamTimings,
  timers: Pick<Timers, 'every'>,
) {
  const poller = createPoller(store, timings, timers)
  const { pulse } = poller
  const itsTurn = takeTurns(SERVED)
  const listeners = new Set<symbol>()
  let closed = false

  async function* listen(listener: symbol, after: string): AsyncGenerator<string> {
    let position = after
    let heard = pulse.beats()
    while (!closed && listeners.has(listener)) {
      await itsTurn()
      const next = pulse.next()
      const events = await poller.eventsAfter(position)
      if (events.length === 0 && heard === pulse.beats()) await next
      else {
        position = events.at(-1)?.id ?? position
        heard = pulse.beats()
        yield events.map(({ text }) => text).join('') || HEARTBEAT
      }
    }
  }

  return {
    full: (): boolean => closed || listeners.size >= timings.maxListeners,
    /** Entries after this one, with heartbeats in between. `newest`: the last arrival. */
    follow(after: string, newest: string) {
      const listener = Symbol()
      listeners.add(listener)
      poller.begin(newest)
      return {
        events: listen(listener, after),
        leave(): void {
          if (listeners.delete(listener) && listeners.size === 0) poller.end()
        },
      }
    },
    /** An entry was posted here: poll now. */
    lookAgain: poller.lookAgain,
    /** Ends every stream permanently. */
    close(): void {
      closed = true
      poller.end()
    },
  }
}

export type Broadcast = ReturnType<typeof createBroadcast>
