/** One request on its way: what handlers know of it and the headers its answer will carry. */
export interface Call {
  /** Sent back as X-Request-Id and as a problem's `instance`. */
  readonly id: string
  readonly request: Request
  readonly path: string
  /** The query string without its question mark. */
  readonly search: string
  /** The socket's remote address; a proxy's, where there is one. */
  readonly peer: string
  /** The answer's headers, gathered on the way. */
  readonly headers: Record<string, string>
  /** Facts for the log line: only names that `http/log.ts` allows are written. */
  readonly notes: Record<string, string>
}

/** The parts of Node's adapter that are read here; absent in socket-less tests. */
export interface Bindings {
  readonly incoming?: { readonly socket: { readonly remoteAddress?: string | undefined } }
}

const LOCAL = '127.0.0.1'

const parts = (url: string): { path: string; search: string } => {
  const start = url.indexOf('/', url.indexOf('://') + 3)
  const hash = url.indexOf('#', start)
  const whole = url.slice(start, hash < 0 ? undefined : hash)
  const mark = whole.indexOf('?')
  return mark < 0
    ? { path: whole, search: '' }
    : { path: whole.slice(0, mark), search: whole.slice(mark + 1) }
}

export function beginCall(id: string, request: Request, bindings: Bindings | undefined): Call {
  const { path, search } = parts(request.url)
  return {
    id,
    request,
    path,
    search,
    peer: bindings?.incoming?.socket.remoteAddress ?? LOCAL,
    headers: { 'X-Request-Id': id, 'X-Content-Type-Options': 'nosniff' },
    notes: {},
  }
}

/** The answer, with the headers gathered in the call. Built once: never touch its headers after. */
export function answer(
  call: Call,
  status: number,
  body: string | ReadableStream<Uint8Array> | null,
  contentType = 'application/json',
): Response {
  if (body !== null) call.headers['Content-Type'] = contentType
  return new Response(body, { status, headers: call.headers })
}

export const json = (call: Call, status: number, value: unknown): Response =>
  answer(call, status, JSON.stringify(value))
