/** Answers one message with the SDK, in the era of the protocol that the message is of. */
import {
  classifyInboundRequest,
  createMcpHandler,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'

/** The protocol version: with the handshake of 2025, or without. */
export type Era = 'legacy' | 'modern'

export function isLegacy({ headers }: Request, body: unknown): boolean {
  const version = headers.get('mcp-protocol-version')
  const { kind } = classifyInboundRequest({
    httpMethod: 'POST',
    body,
    ...(version !== null && { protocolVersionHeader: version }),
  })
  return kind === 'legacy'
}

/** The 2025 protocol without sessions: each message is independent. */
async function respondLegacy(request: Request, body: unknown, server: Server): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  await server.connect(transport)
  try {
    return await transport.handleRequest(request, { parsedBody: body })
  } finally {
    await server.close()
  }
}

/** `request`: its headers; the body is parsed already. */
export async function respond(
  request: Request,
  body: unknown,
  serverOf: (era: Era) => Server,
): Promise<Response> {
  if (isLegacy(request, body)) return respondLegacy(request, body, serverOf('legacy'))
  // The handler only streams if there are notifications before the result, which ours never sends.
  const handler = createMcpHandler(({ era }) => serverOf(era), { legacy: 'reject' })
  return handler.fetch(request, { parsedBody: body })
}
