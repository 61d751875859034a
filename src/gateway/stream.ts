/** GET /api/resonance/stream: new entries as server-sent events. */
import { z } from 'zod'
import { problem } from '../errors.ts'
import { clientKey } from '../http/address.ts'
import type { Call, TextStream } from '../http/call.ts'
import { EVENT_STREAM, eventStream, firstEventText, lastEventIdOf } from '../http/event-stream.ts'
import { endpoint } from '../pipeline/endpoint.ts'
import type { Gateway } from './gateway.ts'
import { anyQuery, forReaders } from './guards.ts'
import { entryId, NOTICE, tag } from './schemas.ts'

const lastEventId = entryId('must be the id of an event').meta({
  description: 'The id of the last event received: the stream starts with the entries after it.',
})

/** Throws `too_many_streams`. */
function follow(
  call: Call,
  { broadcast, streams, trustedProxies }: Gateway,
  position: string,
  newest: string,
): TextStream {
  const letGo = streams.take(clientKey(call, trustedProxies))
  if (!letGo) throw problem('too_many_streams')
  const { events, leave } = broadcast.follow(position, newest)
  async function* pieces(): AsyncGenerator<string> {
    yield firstEventText({ id: position, event: 'welcome', data: { notice: NOTICE } })
    yield* events
  }
  return {
    pieces: pieces(),
    close() {
      leave()
      letGo()
    },
  }
}

export const stream = endpoint({
  operationId: 'listen',
  method: 'GET',
  path: '/api/resonance/stream',
  docs: {
    tag,
    summary: 'Follow new entries as they arrive',
    description:
      'Server-sent events: `welcome` first, then `trace`, `seed`, `whisper` and `contact`, each with its id and, as JSON, the entry with a notice that strangers wrote it. A client that reads nothing for 30 seconds is disconnected, and every stream ends after an hour: resume with Last-Event-ID.',
    headers: z.object({ 'Last-Event-ID': lastEventId.optional() }),
  },
  guards: forReaders,
  query: anyQuery,
  answers: {
    200: {
      description: 'A stream of events without an end.',
      schema: z.string(),
      mediaType: EVENT_STREAM,
      headers: {
        'Cache-Control': 'no-store',
        'X-Accel-Buffering': 'no: proxies must not buffer the stream.',
      },
    },
  },
  errors: ['storage_unavailable', 'invalid_last_event_id', 'too_many_streams'],
  async handle({ call }, gateway: Gateway) {
    const { store, broadcast } = gateway
    const after = lastEventIdOf(call, lastEventId)
    if (broadcast.full()) throw problem('overloaded')
    const last = await store.lastArrival()
    // No entry is newer, and a later id would make the listener miss entries.
    const position = after === undefined || after > last ? last : after
    const stream = follow(call, gateway, position, last)
    call.responseHeaders['Cache-Control'] = 'no-store'
    return eventStream(call, stream)
  },
})
