/** GET /api/agents/me/events/stream: the events of a home as server-sent events. */
import { z } from 'zod'
import { Problem, problem } from '../errors.ts'
import { clientKey } from '../http/address.ts'
import { type Answer, answer, type Call, type TextStream } from '../http/call.ts'
import { endpoint } from '../pipeline/endpoint.ts'
import { spenderOf } from '../pipeline/guards/budget.ts'
import { queryInteger } from '../pipeline/schemas.ts'
import { StoreUnavailable } from '../store/port/errors.ts'
import type { Identity } from '../store/port/home.ts'
import { type HomeEvent, ROWS_PER_LOOK } from '../store/port/keeping/events.ts'
import { eventView, type Missed, missedAfter } from './events.ts'
import { forAgents } from './guards.ts'
import type { Home } from './home.ts'
import { refusal } from './refusal.ts'
import { authorExample, memoryExample, tag } from './schemas.ts'
import type { Follower, Turn } from './subscriptions.ts'

const RECONNECT_MS = 3_000

const HEARTBEAT = ':\n\n'

/** Read and sent together: some 300 bytes each. */
const BATCH = 100

/** An event's id; 0: before the first. */
export const position = queryInteger({ minimum: 0 })

const lastEventId = position.meta({
  description: 'The id of the last event received. It takes precedence over `after`.',
})

function resumesAfter(call: Call, after: number | undefined): number | undefined {
  const sent = call.requestHeaders['last-event-id']
  if (sent === undefined) return after
  const parsed = lastEventId.safeParse(sent)
  if (!parsed.success) throw problem('invalid_last_event_id')
  return parsed.data
}

/** `name`: as which kind of event it is sent. */
export const eventText = (event: HomeEvent, name: string = event.type): string =>
  `id: ${event.id}\nevent: ${name}\ndata: ${JSON.stringify(eventView(event))}\n\n`

/** An id alone is no event: a client that is cut off before any resumes here. */
const opening = (after: number): string => `retry: ${RECONNECT_MS}\nid: ${after}\n\n`

/** Of an id that the home does not have the client forgets: what comes next has lower ones. */
const missedText = ({ after, first }: Missed): string =>
  `${first <= after ? `id: ${first - 1}\n` : ''}event: missed\ndata: ${JSON.stringify({ after, first })}\n\n`

const endText = ({ code, message }: Problem): string =>
  `event: end\ndata: ${JSON.stringify({ code, detail: message })}\n\n`

/** Encodes events for a subscriber. */
export interface EventEncoder {
  readonly opening: string | Promise<string>
  /** What happened, after what was missed; empty where nothing of it is to be told. */
  readonly encode: (
    events: readonly HomeEvent[],
    missed: Missed | undefined,
  ) => string | Promise<string>
  /** Why nothing more comes. */
  readonly end: (refusal: Problem) => string | Promise<string>
}

type Told = (event: HomeEvent) => string

const serverSentEvents = (opening: string, told: Told): EventEncoder => ({
  opening,
  encode: (events, missed) => (missed ? missedText(missed) : '') + events.map(told).join(''),
  end: endText,
})

/** Throws a problem when the identity may not, or no longer. */
async function look({ store }: Pick<Home, 'store'>, identity: Identity, after: number) {
  const found = await store.eventsAfter(identity, after, BATCH)
  if (found.outcome !== 'events') throw refusal(found)
  return found
}

/** Where a stream begins. */
export interface Start {
  /** The last event that its reader knows. */
  readonly shown: number
  /** The log need not be looked through up to here: no less, and more where the reader sees a part. */
  readonly at: number
}

/**
 * From now on. The last event that a key with a prefix sees may lie before all that the log holds:
 * to begin there would be to tell of events that were missed, which nobody asked for. Throws as
 * above.
 */
export async function fromNow(home: Pick<Home, 'store'>, identity: Identity): Promise<Start> {
  const { newest, last } = await look(home, identity, Number.MAX_SAFE_INTEGER)
  return { shown: newest, at: last }
}

/** A store that does not answer now does later: nothing is missed by waiting. */
async function lookIfAnswered(...asked: Parameters<typeof look>) {
  try {
    return await look(...asked)
  } catch (error) {
    if (error instanceof StoreUnavailable) return undefined
    throw error
  }
}

const refusedAs = (error: unknown): Problem => {
  if (error instanceof Problem && error.status < 500) return error
  throw error
}

/** What a stream looks at is paid for as what a page does is. Throws `rate_limited`. */
function paying({ budgets }: Pick<Home, 'budgets'>, identity: Identity) {
  let owed = 0
  return async (looked: number): Promise<void> => {
    for (owed += looked; owed >= ROWS_PER_LOOK; owed -= ROWS_PER_LOOK) {
      const { allowed } = await budgets.take('reads', spenderOf(identity))
      if (!allowed) throw problem('rate_limited')
    }
  }
}

/** Other than the last event of any home: the next question whether something happened wakes it. */
const NOT_SEEN = -1

type Following = Pick<Home, 'store' | 'stopwatch' | 'budgets'>

async function* following(
  home: Following,
  identity: Identity,
  { next }: Follower,
  start: Start,
  encoder: EventEncoder,
): AsyncGenerator<string> {
  yield encoder.opening
  const pay = paying(home, identity)
  /** The log was looked through up to `at`; `shown`: the last id that the client knows. */
  let { at, shown } = start
  let seen = 0
  let sentAt = home.stopwatch()
  for (let turn: Turn = 'look'; turn !== 'over'; ) {
    let text = HEARTBEAT
    let more = false
    if (turn === 'look') {
      const found = await lookIfAnswered(home, identity, at)
      text = found ? await encoder.encode(found.events, missedAfter(shown, found)) : ''
      shown = found?.events.at(-1)?.id ?? Math.min(shown, found?.newest ?? shown)
      at = found?.reached ?? at
      seen = found?.last ?? NOT_SEEN
      more = found !== undefined && at < seen
      await pay(found?.looked ?? 0)
    }
    if (text) {
      sentAt = home.stopwatch()
      yield text
    }
    turn = more ? 'look' : await next(seen, sentAt)
  }
}

/** Ends as a whole answer, with the reason, when it may be read no longer. */
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
 * What happens from now on, or after `asked` or the event that the client saw last. An id that the
 * home does not have is one of before a backup was restored: then from now on.
 */
export async function streamEvents(
  call: Call,
  home: Home,
  identity: Identity,
  { asked, told }: { asked?: number | undefined; told: Told },
): Promise<Answer> {
  const now = await fromNow(home, identity)
  const after = resumesAfter(call, asked)
  const isAhead = after !== undefined && after > now.shown
  const start = after === undefined || isAhead ? now : { shown: after, at: after }
  const missed = isAhead ? missedText({ after, first: now.shown + 1 }) : ''
  const encoder = serverSentEvents(opening(start.shown) + missed, told)
  const stream = follow(call, home, identity, start, encoder)
  call.responseHeaders['X-Accel-Buffering'] = 'no'
  return answer(call, 200, stream, 'text/event-stream')
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
      mediaType: 'text/event-stream',
      example: eventText({
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
    streamEvents(call, home, identity, { asked: query.after, told: (event) => eventText(event) }),
})
