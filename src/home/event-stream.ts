/** GET /api/agents/me/events/stream: the events of a home as server-sent events. */
import { z } from 'zod'
import { Problem, problem } from '../errors.ts'
import { clientKey } from '../http/address.ts'
import type { Answer, Call, TextStream } from '../http/call.ts'
import {
  EVENT_STREAM,
  endText,
  eventStream,
  eventText,
  firstEventText,
  HEARTBEAT,
  lastEventIdOf,
} from '../http/event-stream.ts'
import { endpoint } from '../pipeline/endpoint.ts'
import { spenderOf } from '../pipeline/guards/budget.ts'
import { queryInteger } from '../pipeline/schemas.ts'
import { ifAnswered } from '../store/port/errors.ts'
import { type HomeEvent, ROWS_PER_LOOK } from '../store/port/events.ts'
import type { Identity } from '../store/port/identity.ts'
import { takeTurns } from '../turns.ts'
import { eventView, type Missed, missedAfter } from './events.ts'
import { forAgents } from './guards.ts'
import type { Home } from './home.ts'
import { refusal } from './refusal.ts'
import { authorExample, memoryExample, tag } from './schemas.ts'
import type { Follower, Wake } from './subscriptions.ts'

/** Events per batch, of about 300 bytes each. */
const BATCH = 100

/** An event's id; 0 is before the first. */
export const position = queryInteger({ minimum: 0 })

const lastEventId = position.meta({
  description: 'The id of the last event received. It takes precedence over `after`.',
})

/** `name`: the SSE event type. */
export const homeEventText = (event: HomeEvent, name: string = event.type): string =>
  eventText({ id: event.id, event: name, data: eventView(event) })

/** Resets the client's last event id if the home does not have it: the next ids are lower. */
const missedText = ({ after, first }: Missed): string =>
  eventText({
    id: first <= after ? first - 1 : undefined,
    event: 'missed',
    data: { after, first },
  })

/** Encodes events for a subscriber. */
export interface EventEncoder {
  readonly opening: string | Promise<string>
  /** The next events, after a notice of missed ones; empty if there is nothing to send. */
  readonly encode: (
    events: readonly HomeEvent[],
    missed: Missed | undefined,
  ) => string | Promise<string>
  /** Why the stream ends. */
  readonly end: (refusal: Problem) => string | Promise<string>
}

type Told = (event: HomeEvent) => string

const serverSentEvents = (opening: string, told: Told): EventEncoder => ({
  opening,
  encode: (events, missed) => (missed ? missedText(missed) : '') + events.map(told).join(''),
  end: endText,
})

/** Throws a problem if the identity may not read, or no longer. */
async function look({ store }: Pick<Home, 'store'>, identity: Identity, after: number) {
  const found = await store.eventsAfter(identity, after, BATCH)
  if (found.outcome !== 'events') throw refusal(found)
  return found
}

/** The start of a stream. */
export interface Start {
  /** The last event that the client knows. */
  readonly shown: number
  /** The log need not be read up to here; higher if the client sees only a part. */
  readonly at: number
}

/**
 * Starts now. For a key with a prefix the last visible event may have been pruned; starting there
 * would report missed events that nobody asked for. Throws as above.
 */
export async function fromNow(home: Pick<Home, 'store'>, identity: Identity): Promise<Start> {
  const { newest, last } = await look(home, identity, Number.MAX_SAFE_INTEGER)
  return { shown: newest, at: last }
}

const refusedAs = (error: unknown): Problem => {
  if (error instanceof Problem && error.status < 500) return error
  throw error
}

/** A stream pays for reading the log as a page does. Throws `rate_limited`. */
function paying({ budgets }: Pick<Home, 'budgets'>, identity: Identity) {
  let owed = 0
  return async (looked: number): Promise<void> => {
    for (owed += looked; owed >= ROWS_PER_LOOK; owed -= ROWS_PER_LOOK) {
      const { allowed } = await budgets.take('reads', spenderOf(identity))
      if (!allowed) throw problem('rate_limited')
    }
  }
}

/** Streams that look at once: a change of a home wakes all that follow it. */
export const LOOKING = 4

const itsTurn = takeTurns(LOOKING)

/** Differs from the last event of any home, so that the next poll wakes the stream. */
const NOT_SEEN = -1

type Following = Pick<Home, 'store' | 'stopwatch' | 'budgets'>

/** While the store does not answer, it stays open with heartbeats alone, and loses nothing. */
async function* following(
  home: Following,
  identity: Identity,
  { next }: Follower,
  start: Start,
  encoder: EventEncoder,
): AsyncGenerator<string> {
  yield encoder.opening
  const pay = paying(home, identity)
  const lookAndPay = async (after: number) => {
    const found = await look(home, identity, after)
    await pay(found.looked)
    return found
  }
  /** The log was read up to `at`; `shown`: the last id that the client knows. */
  let { at, shown } = start
  let seen = 0
  let sentAt = home.stopwatch()
  for (let turn: Wake = 'look'; turn !== 'over'; ) {
    await itsTurn()
    let text = turn === 'beat' ? HEARTBEAT : ''
    let more = false
    if (turn === 'look') {
      const found = await ifAnswered(lookAndPay(at))
      seen = found?.last ?? NOT_SEEN
      if (found) {
        text = await encoder.encode(found.events, missedAfter(shown, found))
        shown = found.events.at(-1)?.id ?? Math.min(shown, found.newest)
        at = found.reached
        more = at < seen
      }
    }
    if (text) {
      sentAt = home.stopwatch()
      yield text
    }
    turn = more ? 'look' : await next(seen, sentAt)
  }
}

/** Ends cleanly, with the reason, when it may no longer be read. */
async function* untilRefused(
  pieces: AsyncIterable<string>,
  { end }: EventEncoder,
): AsyncGenerator<string> {
  try {
    yield* pieces
  } catch (error) {
    yield end(refusedAs(error))
  }
}

/** Throws `too_many_streams`. */
export function follow(
  call: Call,
  home: Home,
  identity: Identity,
  start: Start,
  encoder: EventEncoder,
): TextStream {
  const letGo = home.streams.take(clientKey(call, home.trustedProxies))
  if (!letGo) throw problem('too_many_streams')
  const follower = home.subscriptions.follow(identity)
  return {
    pieces: untilRefused(following(home, identity, follower, start, encoder), encoder),
    close() {
      follower.leave()
      letGo()
    },
  }
}

/**
 * From now on, after `asked`, or after the client's last event. An id that the home does not have
 * is from before a restored backup: then from now on.
 */
export async function streamEvents(
  call: Call,
  home: Home,
  identity: Identity,
  { asked, told }: { asked?: number | undefined; told: Told },
): Promise<Answer> {
  const now = await fromNow(home, identity)
  const after = lastEventIdOf(call, lastEventId) ?? asked
  const isAhead = after !== undefined && after > now.shown
  const start = after === undefined || isAhead ? now : { shown: after, at: after }
  const missed = isAhead ? missedText({ after, first: now.shown + 1 }) : ''
  const encoder = serverSentEvents(firstEventText({ id: start.shown }) + missed, told)
  const stream = follow(call, home, identity, start, encoder)
  return eventStream(call, stream)
}

export const followEvents = endpoint({
  operationId: 'followEvents',
  method: 'GET',
  path: '/api/agents/me/events/stream',
  docs: {
    tag,
    summary: 'Follow the events of this home',
    description:
      'Server-sent events from now on, or after the given id: each with its id, its type and, as JSON, the same properties as in the list. `missed` reports that the log no longer has some of the events; `end` gives the reason why the stream ends: the token or key was revoked, or the agent was paused. A client that reads nothing for 30 seconds is disconnected, and every stream ends after an hour: resume with Last-Event-ID.',
    headers: z.object({ 'Last-Event-ID': lastEventId.optional() }),
  },
  guards: forAgents('reads'),
  query: z.strictObject({
    after: position.optional().meta({ description: 'Start with the event after this one.' }),
  }),
  answers: {
    200: {
      description: 'A stream of events without an end.',
      schema: z.string(),
      mediaType: EVENT_STREAM,
      example: homeEventText({
        id: 7,
        type: 'delete',
        key: memoryExample.key,
        from: undefined,
        namedKey: undefined,
        version: 4,
        by: authorExample,
        createdAt: Date.parse(memoryExample.updatedAt),
      }),
      headers: { 'X-Accel-Buffering': 'no: proxies must not buffer the stream.' },
    },
  },
  errors: ['invalid_last_event_id', 'too_many_streams'],
  handle: ({ call, identity, query }, home: Home) =>
    streamEvents(call, home, identity, {
      asked: query.after,
      told: (event) => homeEventText(event),
    }),
})
