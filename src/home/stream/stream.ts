/** GET /api/agents/me/events/stream: what happens in this home, as it happens. */
import { z } from 'zod'
import { Problem, problem } from '../../errors.ts'
import { clientKey } from '../../http/address.ts'
import { type Answer, answer, type Call, type TextStream } from '../../http/call.ts'
import { endpoint } from '../../pipeline/endpoint.ts'
import { queryInteger } from '../../pipeline/schemas.ts'
import type { Identity } from '../../store/port/home.ts'
import type { EventsAnswer, HomeEvent } from '../../store/port/keeping/events.ts'
import { eventView } from '../events.ts'
import { forAgents } from '../guards.ts'
import type { Home } from '../home.ts'
import { refusal } from '../refusal.ts'
import { authorExample, memoryExample, tag } from '../schemas.ts'
import type { Follower, Turn } from './follower.ts'

const RECONNECT_MS = 3_000

const HEARTBEAT = ':\n\n'

/** Read and sent together: some 300 bytes each. */
const BATCH = 100

/** An event's id; 0: before the first. */
export const position = queryInteger({ minimum: 0 })

const lastEventId = position.meta({
  description: 'The id of the last event that was seen. It counts before `after`.',
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

/** What the log no longer held when the stream came to it. */
const missedText = (after: number, first: number): string =>
  after + 1 < first ? `event: missed\ndata: ${JSON.stringify({ after, first })}\n\n` : ''

const endText = ({ code, message }: Problem): string =>
  `event: end\ndata: ${JSON.stringify({ code, detail: message })}\n\n`

type Looked = EventsAnswer & { outcome: 'events' }

/** How what happens is told to whoever follows. */
export interface Voice {
  readonly opening: string | Promise<string>
  /** What was found after the event with this id; empty where nothing of it is to be told. */
  readonly say: (found: Looked, after: number) => string | Promise<string>
  /** Why nothing more comes. */
  readonly end: (refusal: Problem) => string | Promise<string>
}

type Told = (event: HomeEvent) => string

const serverSentEvents = (after: number, told: Told): Voice => ({
  opening: opening(after),
  say: ({ first, events }, at) => missedText(at, first) + events.map(told).join(''),
  end: endText,
})

/** Throws a problem when the identity may not, or no longer. */
async function look({ store }: Pick<Home, 'store'>, identity: Identity, after: number) {
  const found = await store.eventsAfter(identity, after, BATCH)
  if (found.outcome !== 'events') throw refusal(found)
  return found
}

/** The home's last event. Throws as above. */
export const newest = async (home: Pick<Home, 'store'>, identity: Identity): Promise<number> =>
  (await look(home, identity, Number.MAX_SAFE_INTEGER)).last

/** As far as was looked: fewer than asked for are all there are. */
const reached = ({ events, last }: Looked, after: number): number =>
  Math.max(after, events.length < BATCH ? last : (events.at(-1)?.id ?? after))

const refusedAs = (error: unknown): Problem => {
  if (error instanceof Problem && error.status < 500) return error
  throw error
}

async function* following(
  home: Pick<Home, 'store' | 'stopwatch'>,
  identity: Identity,
  { next }: Follower,
  after: number,
  voice: Voice,
): AsyncGenerator<string> {
  yield voice.opening
  let at = after
  let sentAt = home.stopwatch()
  for (let turn: Turn = 'look', seen = 0; turn !== 'over'; ) {
    let text = HEARTBEAT
    let more = false
    if (turn === 'look') {
      const found = await look(home, identity, at)
      text = await voice.say(found, at)
      at = reached(found, at)
      seen = found.last
      more = found.events.length === BATCH
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
  { end }: Voice,
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
  after: number,
  voice: Voice,
): TextStream {
  const letGo = home.streams.take(clientKey(call, home.trustedProxies))
  if (!letGo) throw problem('too_many_streams')
  const follower = home.watch.follow(identity)
  return {
    pieces: untilRefused(following(home, identity, follower, after, voice), voice),
    close() {
      follower.leave()
      letGo()
    },
  }
}

/** What happens from now on, or after `asked` or the event that the client saw last. */
export async function streamEvents(
  call: Call,
  home: Home,
  identity: Identity,
  { asked, told }: { asked?: number | undefined; told: Told },
): Promise<Answer> {
  const after = resumesAfter(call, asked) ?? (await newest(home, identity))
  call.responseHeaders['X-Accel-Buffering'] = 'no'
  const stream = follow(call, home, identity, after, serverSentEvents(after, told))
  return answer(call, 200, stream, 'text/event-stream')
}

export const followEvents = endpoint({
  operationId: 'followEvents',
  method: 'GET',
  path: '/api/agents/me/events/stream',
  docs: {
    tag,
    summary: 'Follow what happens in this home',
    description:
      'Server-sent events from now on, or after the one that is named: each with its id, its type and, as JSON, what the list has. `missed` says that the log no longer holds what came before; `end` why nothing more comes: the token was revoked, its key ended, or the agent paused. A reader that takes nothing for 30 seconds is dropped, and every stream ends after an hour: resume with Last-Event-ID.',
    headers: z.object({ 'Last-Event-ID': lastEventId.optional() }),
  },
  guards: forAgents('reads'),
  query: z.strictObject({
    after: position.optional().meta({ description: 'Begin with the event after this one.' }),
  }),
  answers: {
    200: {
      description: 'The events, without end.',
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
      headers: { 'X-Accel-Buffering': 'no: it is passed on at once.' },
    },
  },
  errors: ['invalid_last_event_id', 'too_many_streams'],
  handle: ({ call, identity, query }, home: Home) =>
    streamEvents(call, home, identity, { asked: query.after, told: (event) => eventText(event) }),
})
