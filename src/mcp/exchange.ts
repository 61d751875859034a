/** Handles one message with the SDK. Loaded on first use. */
import {
  classifyInboundRequest,
  createMcpHandler,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import type { Problem } from '../errors.ts'
import { type Answer, answer, type Call } from '../http/call.ts'
import { noteRefused } from '../pipeline/agent-calls.ts'
import { additionsTo, envelopeOf, HEADERS, remember } from './accepted.ts'
import { callTool } from './calling.ts'
import { listen } from './listening.ts'
import { LISTEN, toolNamed } from './message.ts'
import { serverFor } from './protocol-server.ts'
import { toolOf } from './tools/index.ts'
import type { Tool } from './tools/tool.ts'
import type { Turn } from './turn.ts'

function requestOf({ requestHeaders }: Call): Request {
  // Responses are JSON, whatever else the client accepts.
  const headers = new Headers({ accept: 'application/json, text/event-stream' })
  for (const name of HEADERS) {
    const value = requestHeaders[name]
    if (value !== undefined) headers.set(name, value)
  }
  // The URL plays no part, and a Host header cannot be trusted.
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

/** The 2025 protocol without sessions: each message is independent. */
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
  // The handler only streams if there are notifications before the result, which ours never sends.
  createMcpHandler(({ era }) => serverFor(turn, era), { legacy: 'reject' })

async function whole(call: Call, response: Response): Promise<Answer> {
  const text = await response.text()
  if (text === '') {
    call.responseHeaders['Content-Length'] = '0'
    return answer(call, response.status, null)
  }
  return answer(call, response.status, text, response.headers.get('content-type') ?? undefined)
}

async function throughLibrary(call: Call, turn: Turn): Promise<Answer> {
  const request = requestOf(call)
  if (!isOfToday(call, turn)) return whole(call, await serveOfYesterday(request, turn))
  const { body } = turn.message
  if (body.method === LISTEN) return listen(call, turn, request)
  return whole(call, await handlerFor(turn).fetch(request, { parsedBody: body }))
}

async function direct(call: Call, turn: Turn, tool: Tool, additions: string): Promise<Answer> {
  const result = await callTool(tool, turn)
  const id = JSON.stringify(turn.message.body.id)
  const said = `{"result":${result.slice(0, -1)}${additions}},"jsonrpc":"2.0","id":${id}}`
  return answer(call, 200, said)
}

async function serve(call: Call, turn: Turn): Promise<Answer> {
  const tool = toolOf(toolNamed(turn.message))
  const envelope = tool && envelopeOf(call, turn.message)
  if (!tool || envelope === undefined) return throughLibrary(call, turn)
  const additions = additionsTo(envelope)
  if (additions !== undefined) return direct(call, turn, tool, additions)
  const given = await throughLibrary(call, turn)
  if (given.status === 200 && typeof given.body === 'string') remember(envelope, given.body)
  return given
}

/** Throws the error of the whole message. */
export async function exchange(call: Call, asked: Omit<Turn, 'fail' | 'refuse'>): Promise<Answer> {
  const failures: unknown[] = []
  const fail = (error: unknown) => void failures.push(error)
  const refuse = (refusal: Problem) => noteRefused(call, refusal)
  const given = await serve(call, { ...asked, fail, refuse })
  for (const failure of failures) throw failure
  return given
}
