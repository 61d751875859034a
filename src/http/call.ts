/** A request as handlers see it, and its response. */
import type { Readable } from 'node:stream'

export interface Incoming {
  readonly method: string
  readonly host: string
  readonly path: string
  /** The query string without its question mark. */
  readonly search: string
  /** Lower-case names; repeated headers are joined by commas. */
  readonly requestHeaders: Readonly<Record<string, string | undefined>>
  /** Alternating names and values as received, to recognize repeated headers. */
  readonly rawHeaders: readonly string[]
  readonly body: Readable
  /**
   * The body of a request without a deadline, whose client must keep a minimum throughput instead.
   * Undefined if the transport has no such deadlines.
   */
  readonly slowBody?: (() => AsyncIterable<Uint8Array>) | undefined
  /** The socket's peer: the client or a proxy. */
  readonly peer: string
}

export type PathParams = Readonly<Record<string, string>>

export interface Call extends Incoming {
  /** Returned as X-Request-Id and as a problem's `instance`. */
  readonly id: string
  readonly params: PathParams
  /** The response's headers so far. */
  readonly responseHeaders: Record<string, string>
  /** Fields for the log; only names listed in `pipeline/request-log.ts` are written. */
  readonly notes: Record<string, string>
}

export interface TextStream {
  readonly pieces: AsyncIterable<string>
  /** Releases the source. May be called again. */
  readonly close: () => void
  /** Aborted when nothing more may be sent, including buffered pieces. */
  readonly ended?: AbortSignal | undefined
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | TextStream | null
  /** In the place of a body that is text. */
  readonly bytes?: Uint8Array
}

/** Answers a request. Never rejects. */
export type Serve = (incoming: Incoming) => Promise<Answer>

export const commonHeaders = (id: string): Record<string, string> => ({
  'X-Request-Id': id,
  'X-Content-Type-Options': 'nosniff',
})

/** Listed one by one: copying an object costs a request more. */
export const beginCall = (id: string, incoming: Incoming, params: PathParams): Call => ({
  method: incoming.method,
  host: incoming.host,
  path: incoming.path,
  search: incoming.search,
  requestHeaders: incoming.requestHeaders,
  rawHeaders: incoming.rawHeaders,
  body: incoming.body,
  slowBody: incoming.slowBody,
  peer: incoming.peer,
  id,
  params,
  responseHeaders: commonHeaders(id),
  notes: {},
})

/** A response with the headers collected in the call. */
export function answer(
  { responseHeaders: headers }: Pick<Call, 'responseHeaders'>,
  status: number,
  body: Answer['body'],
  contentType = 'application/json',
): Answer {
  if (body !== null) headers['Content-Type'] = contentType
  if (typeof body === 'string') headers['Content-Length'] = String(Buffer.byteLength(body))
  return { status, headers, body }
}

export const json = (call: Call, status: number, value: unknown): Answer =>
  answer(call, status, JSON.stringify(value))

/** 303 See Other, after a form that changed something. */
export function redirect(call: Call, path: string): Answer {
  call.responseHeaders.Location = path
  return answer(call, 303, null)
}
