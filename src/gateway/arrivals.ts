/**
 * Everything as it arrives. One look at the store serves all listeners: what is new goes into a
 * bounded memory that they share, and who falls behind it reads from the store at its own pace.
 * Looking, not telling, also finds what other processes left.
 */
import type { Entry, GatewayStore } from '../store/port.ts'
import { showAny } from './view.ts'

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

/** Entries read at once. */
const BATCH = 100

/** Events kept for the listeners that follow closely. */
const MEMORY_CHARS = 1_048_576

interface Event {
  readonly id: string
  readonly text: string
}

const eventOf = (entry: Entry): Event => {
  const shown = showAny(entry)
  const { id } = entry
  return { id, text: `id: ${id}\nevent: ${shown.kind}\ndata: ${JSON.stringify(shown)}\n\n` }
}

const HEARTBEAT = ':\n\n'

export interface Listener {
  readonly events: AsyncIterable<string>
  readonly leave: () => void
}

export interface Arrivals {
  readonly full: () => boolean
  /** What arrives after this entry, and a heartbeat where nothing does. */
  readonly follow: (after: string) => Listener
  /** Something was left here: look at once. */
  readonly arrived: () => void
  /** Ends every stream, for good. */
  readonly close: () => void
}

/** The newest events, up to a bound: those after `floor`. */
function createMemory() {
  const events: Event[] = []
  let chars = 0
  let floor = ''
  return {
    floor: () => floor,
    newest: () => events.at(-1)?.id ?? floor,
    forget(position: string): void {
      events.length = 0
      chars = 0
      floor = position
    },
    add(found: readonly Event[]): void {
      events.push(...found)
      for (const { text } of found) chars += text.length
      while (chars > MEMORY_CHARS) {
        const oldest = events.shift()
        if (!oldest) return
        chars -= oldest.text.length
        floor = oldest.id
      }
    },
    since: (id: string): readonly Event[] =>
      events.slice(events.findLastIndex((e) => e.id <= id) + 1),
  }
}

export function createArrivals(store: GatewayStore, pace: StreamPace): Arrivals {
  const memory = createMemory()
  let listeners = 0
  let closed = false
  let begun: Promise<void> | undefined
  let watching = false
  let timers: NodeJS.Timeout[] = []
  let looking = false
  let lookAgain = false
  let beats = 0
  let news = Promise.withResolvers<void>()

  function wake(): void {
    news.resolve()
    news = Promise.withResolvers()
  }

  function beat(): void {
    beats++
    wake()
  }

  async function begin(): Promise<void> {
    timers = [setInterval(arrived, pace.pollMs), setInterval(beat, pace.heartbeatMs)]
    memory.forget(await store.lastArrival())
    watching = true
  }

  function end(): void {
    for (const timer of timers) clearInterval(timer)
    begun = undefined
    watching = false
  }

  /** What arrives in one turn of the event loop is found by one look. */
  function arrived(): void {
    if (!watching || listeners === 0) return
    lookAgain = true
    if (looking) return
    looking = true
    setImmediate(() => void lookWhileAsked())
  }

  async function lookWhileAsked(): Promise<void> {
    try {
      while (lookAgain) {
        lookAgain = false
        await look()
      }
    } catch {
      // The store does not answer now. The next look finds what this one would have found.
    } finally {
      looking = false
    }
  }

  async function look(): Promise<void> {
    for (let full = true; full; ) {
      const found = await store.entriesAfter(memory.newest(), BATCH)
      memory.add(found.map(eventOf))
      if (found.length > 0) wake()
      full = found.length === BATCH
    }
  }

  async function eventsAfter(id: string): Promise<readonly Event[]> {
    if (id >= memory.floor()) return memory.since(id)
    return (await store.entriesAfter(id, BATCH)).map(eventOf)
  }

  async function* listen(after: string, gone: () => boolean): AsyncGenerator<string> {
    begun ??= begin()
    await begun
    let heard = beats
    for (let position = after; !closed && !gone(); ) {
      const next = news.promise
      const events = await eventsAfter(position)
      if (events.length > 0 || heard < beats) {
        heard = beats
        position = events.at(-1)?.id ?? position
        yield events.map(({ text }) => text).join('') || HEARTBEAT
      } else await next
    }
  }

  return {
    full: () => closed || listeners >= pace.maxListeners,
    follow(after) {
      let gone = false
      listeners++
      return {
        events: listen(after, () => gone),
        leave() {
          if (gone) return
          gone = true
          listeners--
          if (listeners === 0) end()
        },
      }
    },
    arrived,
    close() {
      closed = true
      end()
      wake()
    },
  }
}
