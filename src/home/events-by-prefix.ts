/**
 * Events visible to a key with a prefix: those of memories under it. The last such event is found
 * once and cached for all keys and streams with the prefix, so that being woken by other events
 * costs little and reveals nothing about them.
 */
import { LRUCache } from 'lru-cache'
import { createKeyedQueue } from '../keyed-queue.ts'
import {
  type EventStore,
  type EventsAnswer,
  type HomeEvent,
  type OthersAnswer,
  ROWS_PER_LOOK,
} from '../store/port/events.ts'
import type { Identity } from '../store/port/identity.ts'
import { takeTurns } from '../turns.ts'
import { prefixOf } from './key-scope.ts'

/**
 * A key outside the prefix is removed from the event, with the version that the memory got there,
 * and the hash, which depends on events that are not visible.
 */
export function visible({ hash: _, ...event }: HomeEvent, prefix: string): HomeEvent {
  const inReach = (name: string | undefined) => (name?.startsWith(prefix) ? name : undefined)
  const [key, from] = [inReach(event.key), inReach(event.from)]
  if (key !== undefined || event.key === undefined) return { ...event, key, from }
  return { ...event, key, from, version: undefined, content: undefined }
}

type Events = EventsAnswer & { outcome: 'events' }
type Refused = Exclude<EventsAnswer, Events>

/** What is known about a home's log and a prefix. */
interface Known {
  /** The last visible event; 0 if none was found. */
  newest: number
  /** The log was read from `from` to `to`; until an event is found, `from` decreases. */
  from: number
  to: number
}

const NOTHING_KNOWN: Known = { newest: 0, from: 0, to: Number.MAX_SAFE_INTEGER }

/** Cached homes and prefixes. */
const REMEMBERED = 10_000

/** Most prefixes have a recent event. */
const FIRST_LOOK = 100

type Ask = (id: number, limit: number) => Promise<EventsAnswer>

/** From the newest event back to the last visible one. Returns the rows that were read. */
async function findNewest(ask: Ask, known: Known): Promise<number | Refused> {
  let looked = 0
  for (let rows = FIRST_LOOK; known.newest === 0 && known.from > 0; rows = ROWS_PER_LOOK) {
    const from = Math.max(0, known.from - rows)
    const found = await ask(from, ROWS_PER_LOOK)
    if (found.outcome !== 'events') return found
    looked += found.looked
    known.newest = found.events.at(-1)?.id ?? 0
    known.from = found.missed ? 0 : from
  }
  return looked
}

/** Newer events. */
async function catchUp(ask: Ask, known: Known): Promise<Events | Refused> {
  for (let looked = 0; ; ) {
    const found = await ask(known.to, ROWS_PER_LOOK)
    if (found.outcome !== 'events') return found
    looked += found.looked
    // Nothing was read yet, or the log is another one after a restored backup.
    if (found.last < known.to) Object.assign(known, { newest: 0, from: found.last })
    known.to = found.reached
    known.newest = found.events.at(-1)?.id ?? known.newest
    if (found.reached >= found.last) return { ...found, looked }
  }
}

export function createEventsByPrefix(
  eventsAfter: EventStore['eventsAfter'],
): (identity: Identity, id: number, limit: number) => Promise<EventsAnswer> {
  const remembered = new LRUCache<string, Known>({ max: REMEMBERED })
  const turn = takeTurns(1)
  const inOrder = createKeyedQueue()

  /** The log's state with the last visible event as its newest, without events. */
  async function look(ask: Ask, name: string): Promise<Events | Refused> {
    const known = remembered.get(name) ?? { ...NOTHING_KNOWN }
    remembered.set(name, known)
    const now = await catchUp(ask, known)
    if (now.outcome !== 'events') return now
    const looked = await findNewest(ask, known)
    if (typeof looked !== 'number') return looked
    return { ...now, events: [], newest: known.newest, looked: now.looked + looked }
  }

  return async (identity, id, limit) => {
    const prefix = prefixOf(identity)
    const ask: Ask = async (after, most) => {
      await turn()
      return eventsAfter(identity, after, most, prefix)
    }
    const name = `${identity.agentId} ${prefix}`
    const now = await inOrder(name, () => look(ask, name))
    if (now.outcome !== 'events') return now
    const missed = id + 1 < now.first || id > now.last
    // Of other events only that some were pruned is reported, not how many.
    if (id >= now.newest) return { ...now, missed, first: now.newest + 1, reached: now.last }
    const page = await ask(id, limit)
    if (page.outcome !== 'events') return page
    const events = page.events.map((event) => visible(event, prefix))
    const newest = Math.max(now.newest, events.at(-1)?.id ?? 0)
    const first = events[0]?.id ?? page.reached + 1
    return { ...page, events, newest, first, looked: now.looked + page.looked }
  }
}

/** Looks on past what is not visible, so that only visible events decide what is told. */
export function createOthersByPrefix(eventsByOthers: EventStore['eventsByOthers']) {
  const turn = takeTurns(1)
  return async (identity: Identity, prefix: string): Promise<OthersAnswer> => {
    const latest = await eventsByOthers(identity, prefix)
    if (latest.outcome !== 'others') return latest
    let { events, isWhole, next } = latest
    while (next !== undefined && events.length < ROWS_PER_LOOK) {
      await turn()
      const found = await eventsByOthers(identity, prefix, next)
      if (found.outcome !== 'others') return found
      events = [...found.events, ...events]
      isWhole = found.isWhole
      next = found.next
    }
    return { ...latest, events: events.map((event) => visible(event, prefix)), isWhole, next }
  }
}
