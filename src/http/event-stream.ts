/** Server-sent events, by the HTML standard. */
import type { z } from 'zod'
import { type Problem, problem } from '../errors.ts'
import { type Answer, answer, type Call, type TextStream } from './call.ts'

interface ServerSentEvent {
  readonly id?: string | number | undefined
  readonly event?: string
  /** Encoded as JSON. */
  readonly data?: unknown
}

export const EVENT_STREAM = 'text/event-stream'

/** Milliseconds after which a client reconnects. */
const RECONNECT_MS = 3_000

/** A comment, for proxies and for noticing clients that are gone. */
export const HEARTBEAT = ':\n\n'

/** An id without data moves the client's last event id only. */
export const eventText = ({ id, event, data }: ServerSentEvent): string =>
  (id === undefined ? '' : `id: ${id}\n`) +
  (event === undefined ? '' : `event: ${event}\n`) +
  (data === undefined ? '' : `data: ${JSON.stringify(data)}\n`) +
  '\n'

/** The first event of a stream. A client that disconnects before any other resumes at its id. */
export const firstEventText = (event: ServerSentEvent): string =>
  `retry: ${RECONNECT_MS}\n${eventText(event)}`

/** Why a stream ends. */
export const endText = ({ code, message }: Problem): string =>
  eventText({ event: 'end', data: { code, detail: message } })

/** Throws `invalid_last_event_id`. */
export function lastEventIdOf<T>(call: Call, schema: z.ZodType<T>): T | undefined {
  const sent = call.requestHeaders['last-event-id']
  if (sent === undefined) return undefined
  const parsed = schema.safeParse(sent)
  if (!parsed.success) throw problem('invalid_last_event_id')
  return parsed.data
}

export function eventStream(call: Call, stream: TextStream): Answer {
  call.responseHeaders['X-Accel-Buffering'] = 'no'
  return answer(call, 200, stream, EVENT_STREAM)
}
