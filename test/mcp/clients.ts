/** The official client in both eras of the protocol, on an app without sockets. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { TextStream } from '../../src/http/call.ts'
import { incomingOf, type TestService } from '../harness.ts'

export type Era = 'legacy' | 'modern'

/** The revisions that are negotiated, as the client names them. */
export const eras: readonly { readonly era: Era; readonly version: string }[] = [
  { era: 'legacy', version: '2025-11-25' },
  { era: 'modern', version: '2026-07-28' },
]

function bodyOf({ pieces, close }: TextStream): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const reading = pieces[Symbol.asyncIterator]()
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await reading.next()
      if (done) controller.close()
      else controller.enqueue(encoder.encode(value))
    },
    cancel: () => close(),
  })
}

/** `fetch`, of the app itself. */
export const fetchOf =
  ({ app }: Pick<TestService, 'app'>) =>
  async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    const headers = Object.fromEntries(new Headers(init.headers))
    const { pathname, search } = new URL(url)
    const incoming = incomingOf(init.method ?? 'GET', pathname + search, {
      headers,
      ...(init.body !== undefined && { body: String(init.body) }),
    })
    const given = await app.serve(incoming)
    const { body } = given
    if (body !== null && typeof body !== 'string') {
      init.signal?.addEventListener('abort', body.close)
    }
    const sent = body === null || typeof body === 'string' ? body : bodyOf(body)
    return new Response(sent, { status: given.status, headers: given.headers })
  }

export const connecting = (era: Era) =>
  new Client(
    { name: 'test', version: '1.0.0' },
    { versionNegotiation: { mode: era === 'modern' ? 'auto' : 'legacy' } },
  )

/** Asks for values beside the texts of results. */
export const STRUCTURED = { 'agent-home-structured': 'true' }

/** Connected as whoever holds the token. `headers`: sent with each message. */
export async function connect(
  service: TestService,
  token: string,
  era: Era,
  headers: Readonly<Record<string, string>> = {},
): Promise<Client> {
  const client = connecting(era)
  const transport = new StreamableHTTPClientTransport(new URL('http://127.0.0.1:8787/mcp'), {
    fetch: fetchOf(service),
    requestInit: { headers: { ...headers, authorization: `Bearer ${token}` } },
  })
  await client.connect(transport)
  return client
}
