/** Pages of the log, in either order and filtered. */
import { hexOf } from '../chain.ts'
import {
  type EventsPage,
  type EventsQuery,
  type HeadAnswer,
  type HomeEvent,
  ROWS_PER_LOOK,
} from '../port/events.ts'
import type { Identity } from '../port/identity.ts'
import { type EventRow, endOf, eventOf } from '../rows.ts'
import { refuse } from './controls.ts'
import { ask, type Statement, statement, type Verb } from './verb.ts'

export const retained = statement<{
  first: number
  last: number
  head: Uint8Array
  base: Uint8Array
}>('SELECT first_event AS first, last_event AS last, head, base FROM homes WHERE agent_id = $1')

/** `creates`: nothing had the key before. */
type MadeEventRow = EventRow & { readonly creates: boolean | number | null }

/** For MadeEventRow: whether the version of a row `of` follows none, or a deletion. */
export const creates = (of: string, previous: string): string => `
  (${of}.created_at = ${of}.updated_at AND
    coalesce((SELECT p.operation FROM log p WHERE ${previous}), 'delete') = 'delete') AS creates`

/** What each engine asks of its log. */
export interface EventStatements {
  /** The time of the newest event up to $2 of the agent $1; the newest 64 may be left out. */
  readonly timeUpTo: Statement<{ at: number }>
  /**
   * Of the agent $1, events with $2 < id <= $3 that `eventsMatch` finds, at most $10, in
   * this order.
   */
  readonly within: Readonly<Record<EventsQuery['order'], Statement<EventRow>>>
  /** As `within.newest`, with `creates`: it looks up what each version follows. */
  readonly newestMade: Statement<MadeEventRow>
}

/** Whether an event is from this time on, of a key in this range, of this type, by this author and run. */
export const eventsMatch = (
  columns: Readonly<Record<'at' | 'key' | 'from' | 'type' | 'author', string>>,
): string => `
  (CAST($4 AS BIGINT) IS NULL OR ${columns.at} >= $4)
  AND (CAST($5 AS TEXT) IS NULL OR (${columns.key} >= $5 AND ${columns.key} < $6)
    OR (${columns.from} >= $5 AND ${columns.from} < $6))
  AND (CAST($7 AS TEXT) IS NULL OR ${columns.type} = $7)
  AND (CAST($8 AS TEXT) IS NULL OR coalesce(${columns.author} -> 'key' ->> 'id', ${columns.author} ->> 'as') = $8)
  AND (CAST($9 AS TEXT) IS NULL OR ${columns.author} ->> 'run' = $9)`

/** The newest events may be where `timeUpTo` does not look. */
const RECENT = 64

interface Log {
  readonly first: number
  readonly last: number
}

/** An id that only earlier events have, or none: by halving, so that a long log costs a few looks. */
function* before(
  timeUpTo: EventStatements['timeUpTo'],
  agentId: string,
  { first, last }: Log,
  since: number,
): Verb<number> {
  let low = first - 1
  for (let high = last - RECENT; low < high; ) {
    const middle = Math.ceil((low + high) / 2)
    const [found] = yield* ask(timeUpTo, agentId, middle)
    if (found && found.at < since) low = middle
    else high = middle - 1
  }
  return low
}

/** The ids to look at: `after < id <= until`, out of those with `low < id <= last`. */
interface Look {
  readonly low: number
  readonly last: number
  readonly after: number
  readonly until: number
}

function lookOf({ order, after: cursor }: EventsQuery, low: number, last: number): Look {
  if (order === 'newest') {
    const until = Math.min(last, (cursor ?? Number.MAX_SAFE_INTEGER) - 1)
    return { low, last, until, after: Math.max(low, until - ROWS_PER_LOOK) }
  }
  const after = Math.min(Math.max(cursor ?? 0, low), last)
  return { low, last, after, until: Math.min(last, after + ROWS_PER_LOOK) }
}

/** The cursor to go on from, and how many rows were read until there. */
function restOf({ order, limit }: EventsQuery, { low, last, after, until }: Look, shown: number[]) {
  const stopped = shown.length === limit ? shown.at(-1) : undefined
  if (order === 'newest') {
    const lowest = stopped ?? after + 1
    return { next: lowest - 1 > low ? lowest : undefined, looked: until - lowest + 1 }
  }
  const highest = stopped ?? until
  return { next: highest < last ? highest : undefined, looked: highest - after }
}

export const rangeOf = ({
  key,
  prefix,
}: Pick<EventsQuery, 'key' | 'prefix'>): readonly [from: string | null, to: string] => {
  if (key !== undefined) return [key, `${key}\u0001`]
  return [prefix === '' ? null : prefix, endOf(prefix)]
}

const NO_FILTERS = [null, null, null, null, null, null] as const

/** Events of one call that the store makes for itself. */
export const EVENTS_AT_ONCE = 500

export const eventReads = ({ timeUpTo, within }: EventStatements) => ({
  /** For the store itself: undefined if there is no such home. */
  *retainedEvents(agentId: string): Verb<Log | undefined> {
    return (yield* ask(retained, agentId))[0]
  },

  /** For the store itself: at most EVENTS_AT_ONCE, `until` at most ROWS_PER_LOOK after `after`. */
  *eventsBetween(
    agentId: string,
    order: EventsQuery['order'],
    after: number,
    until: number,
  ): Verb<readonly HomeEvent[]> {
    const rows = yield* ask(within[order], agentId, after, until, ...NO_FILTERS, EVENTS_AT_ONCE)
    return rows.map(eventOf)
  },

  *listEvents(identity: Identity, query: EventsQuery): Verb<EventsPage> {
    const refused = yield* refuse(identity)
    if (refused) return refused
    const { agentId } = identity
    const { order, limit, since, type, by, run } = query
    const [log] = yield* ask(retained, agentId)
    const { first, last } = log ?? { first: 1, last: 0 }
    const low =
      since === undefined ? first - 1 : yield* before(timeUpTo, agentId, { first, last }, since)
    const look = lookOf(query, low, last)
    if (look.after >= look.until) {
      return { outcome: 'page', events: [], next: undefined, looked: 0 }
    }
    const { after, until } = look
    const filters = [since, ...rangeOf(query), type, by, run]
    const rows = yield* ask(within[order], agentId, after, until, ...filters, limit)
    const events = rows.map(eventOf)
    const rest = restOf(
      query,
      look,
      events.map(({ id }) => id),
    )
    return { outcome: 'page', events, ...rest }
  },

  *readHead(identity: Identity): Verb<HeadAnswer> {
    const refused = yield* refuse(identity)
    if (refused) return refused
    const { agentId } = identity
    const [log] = yield* ask(retained, agentId)
    if (!log) return { outcome: 'revoked' }
    const { first, last, head, base } = log
    const [newest] = yield* ask(within.newest, agentId, last - 1, last, ...NO_FILTERS, 1)
    return {
      outcome: 'head',
      head: { id: last, hash: hexOf(head) },
      createdAt: newest?.created_at,
      base: { id: first - 1, hash: hexOf(base) },
    }
  },
})
