/** What a client is answered while its home is not: what there is to call, and why it cannot be. */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import { offer } from '../../../mcp/protocol-server.ts'
import { respond } from '../../../mcp/respond.ts'

/** `sentence`: why, for the model that calls a tool. */
export const answerAway = (
  headers: HeadersInit | undefined,
  body: unknown,
  sentence: string,
): Promise<Response> =>
  respond(
    new Request('http://mcp/', { method: 'POST', headers: new Headers(headers) }),
    body,
    (era) => {
      const server = offer(era)
      server.setRequestHandler('tools/call', () => ({
        content: [{ type: 'text', text: sentence }],
        isError: true,
      }))
      server.setRequestHandler('resources/list', () => ({ resources: [] }))
      server.setRequestHandler('resources/read', () => {
        throw new ProtocolError(ProtocolErrorCode.InternalError, sentence)
      })
      return server
    },
  )
