/** One message and its answer, through the protocol's own library. Loaded when first asked for. */
import {
  classifyInboundRequest,
  createMcpHandler,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import type { Problem } from '../errors.ts'
import { type Answer, answer, type Call } from '../http/call.ts'
import { noteRefused } from '../pipeline/log/agent-calls.ts'
import { listen } from './listening.ts'
import { LISTEN } from './message.ts'
import { serverFor, type Turn } from './protocol-server.ts'

/** What the library looks at beside the message. */
const HEADERS = ['content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name'] as const

function requestOf({ requestHeaders }: Call): Request {
  // Whoever asks is answered in JSON, whatever else they would take.
  const headers = new Headers({ accept: 'application/json, text/event-stream' })
  for (const name of HEADERS) {
    const value = requestHeaders[name]
    if (value !== undefined) headers.set(name, value)
  }
  // The address plays no part, and where it is said by a client it is nobody's to believe.
  return new Request('http://mcp/', { method: 'POST', headers })
}

function isOfToday({ requestHeaders }: Call, { message }: Turn): boolean {
  const { kind } = classifyInboundRequest({
    httpMethod: 'POST',
    body: message.body,
    ...(requestHeaders['mcp-protocol-version'] !== undefined && {
      protocolVersionHeader: requestHeaders['mcp-protocol-version'],
    }),
  })
  return kind !== 'legacy'
}

/** The 2025 protocol, without a session: each message stands for itself. */
async function serveOfYesterday(request: Request, turn: Turn): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  const server = serverFor(turn, 'legacy')
  await server.connect(transport)
  try {
    return await transport.handleRequest(request, { parsedBody: turn.message.body })
  } finally {
    await server.close()
  }
}

const handlerFor = (turn: Turn) =>
  // The handler streams only where something is said before the result, and ours say nothing.
  createMcpHandler(({ era }) => serverFor(turn, era), { legacy: 'reject' })

async function whole(call: Call, response: Response): Promise<Answer> {
  const text = await response.text()
  if (text === '') {
    call.responseHeaders['Content-Length'] = '0'
    return answer(call, response.status, null)
  }
  return answer(call, response.status, text, response.headers.get('content-type') ?? undefined)
}

async function serve(call: Call, turn: Turn): Promise<Answer> {
  const request = requestOf(call)
  if (!isOfToday(call, turn)) return whole(call, await serveOfYesterday(request, turn))
  const { body } = turn.message
  if (body.method === LISTEN) return listen(call, turn, request)
  return whole(call, await handlerFor(turn).fetch(request, { parsedBody: body }))
}

/** Throws what the message is refused for as a whole, and what failed. */
export async function exchange(call: Call, asked: Omit<Turn, 'fail' | 'refuse'>): Promise<Answer> {
  const failures: unknown[] = []
  const fail = (error: unknown) => void failures.push(error)
  const refuse = (refusal: Problem) => noteRefused(call, refusal)
  const given = await serve(call, { ...asked, fail, refuse })
  for (const failure of failures) throw failure
  return given
}
