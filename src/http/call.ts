/** One request on its way: what handlers know of it, and the answer they give. */
import type { Readable } from 'node:stream'

/** A request as it came in. */
export interface Incoming {
  readonly method: string
  /** The Host header. */
  readonly host: string
  readonly path: string
  /** The query string without its question mark. */
  readonly search: string
  /** By name in lower case; a header that was sent twice is joined by a comma. */
  readonly requestHeaders: Readonly<Record<string, string | undefined>>
  /** Names and values in turn, as they came: what tells a header sent twice from one with a comma. */
  readonly rawHeaders: readonly string[]
  readonly body: Readable
  /**
   * The body of a request that may take longer than others, whose sender keeps a pace instead.
   * Undefined where no sender is waited for.
   */
  readonly bodyAtPace?: (() => AsyncIterable<Uint8Array>) | undefined
  /** The socket's remote address; a proxy's, where there is one. */
  readonly peer: string
}

/** What stands in the place of a path's named segments. */
export type PathParams = Readonly<Record<string, string>>

export interface Call extends Incoming {
  /** Sent back as X-Request-Id and as a problem's `instance`. */
  readonly id: string
  readonly params: PathParams
  /** The answer's, gathered on the way. */
  readonly responseHeaders: Record<string, string>
  /** Facts for the log line: only names that `pipeline/log/request-log.ts` allows are written. */
  readonly notes: Record<string, string>
}

/** Text that is sent while it is made. */
export interface TextStream {
  readonly pieces: AsyncIterable<string>
  /** Lets go of what the pieces come from, read to their end or not. May be called again. */
  readonly close: () => void
  /** Aborted when nothing more of it may be sent, not even what its reader has not taken yet. */
  readonly ended?: AbortSignal | undefined
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | TextStream | null
}

/** Answers a request. Never rejects. */
export type Serve = (incoming: Incoming) => Promise<Answer>

/** What every answer carries. */
export const commonHeaders = (id: string): Record<string, string> => ({
  'X-Request-Id': id,
  'X-Content-Type-Options': 'nosniff',
})

/** Spelt out: copying an object whole costs a request more. */
export const beginCall = (id: string, incoming: Incoming, params: PathParams): Call => ({
  method: incoming.method,
  host: incoming.host,
  path: incoming.path,
  search: incoming.search,
  requestHeaders: incoming.requestHeaders,
  rawHeaders: incoming.rawHeaders,
  body: incoming.body,
  bodyAtPace: incoming.bodyAtPace,
  peer: incoming.peer,
  id,
  params,
  responseHeaders: commonHeaders(id),
  notes: {},
})

/** The answer, with the headers gathered in the call. */
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

/** See other: what follows a form that changed something. */
export function redirect(call: Call, path: string): Answer {
  call.responseHeaders.Location = path
  return answer(call, 303, null)
}
