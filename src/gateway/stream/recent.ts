/** The newest arrivals as events, up to a bound, shared by all who listen closely. */
import type { Entry } from '../../store/port/gateway.ts'
import { NOTICE } from '../schemas.ts'
import { showAny } from '../view.ts'

const MAX_CHARS = 1_048_576

export interface Event {
  readonly id: string
  readonly text: string
}

export const eventOf = (entry: Entry): Event => {
  const shown = showAny(entry)
  const { id } = entry
  const data = JSON.stringify({ notice: NOTICE, ...shown })
  return { id, text: `id: ${id}\nevent: ${shown.kind}\ndata: ${data}\n\n` }
}

export interface Recent {
  /** Every event after this id is here; earlier ones are not. */
  readonly floor: () => string
  readonly newest: () => string
  readonly beginAt: (id: string) => void
  readonly add: (events: readonly Event[]) => void
  /** The next events after this id: none after the one with which they reach `maxChars`. */
  readonly since: (id: string, maxChars: number) => readonly Event[]
}

export function createRecent(): Recent {
  let events: Event[] = []
  let chars = 0
  let floor = ''
  return {
    floor: () => floor,
    newest: () => events.at(-1)?.id ?? floor,
    beginAt(id) {
      events = []
      chars = 0
      floor = id
    },
    add(found) {
      events.push(...found)
      for (const { text } of found) chars += text.length
      while (chars > MAX_CHARS) {
        const oldest = events.shift()
        if (!oldest) return
        chars -= oldest.text.length
        floor = oldest.id
      }
    },
    since(id, maxChars) {
      const first = events.findLastIndex((event) => event.id <= id) + 1
      let end = first
      for (let left = maxChars; left > 0 && end < events.length; end++) {
        left -= events[end]?.text.length ?? 0
      }
      return events.slice(first, end)
    },
  }
}
