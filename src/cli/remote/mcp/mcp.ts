/**
 * `agent-home mcp`: connects clients that start programs to a home's `/mcp`. Messages are forwarded
 * unchanged, so both ways offer the same tools. Standard output carries only the protocol.
 */
import { PassThrough } from 'node:stream'
import { isWellFormedToken } from '../../../pipeline/tokens.ts'
import type { Run } from '../../command.ts'
import { usage } from '../../failure.ts'
import { connectionOf } from '../at-home.ts'
import { bridge } from './bridge.ts'

const NO_TOKEN =
  'That is no token of an agent home. Copy it whole, as the birth or the operator gave it: aha_ and 49 characters.'

/** Ends when standard input has ended and all requests are answered. */
export const mcpCommand: Run = async (given) => {
  const { url, token } = connectionOf(given)
  if (!isWellFormedToken(token)) throw usage(NO_TOKEN)
  const [{ StdioServerTransport }, { StreamableHTTPClientTransport }] = await Promise.all([
    import('@modelcontextprotocol/server/stdio'),
    import('@modelcontextprotocol/client'),
  ])
  const there = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  })
  // Ended by us, because the transport would drop pending responses.
  const input = process.stdin.pipe(new PassThrough(), { end: false })
  const { ended, finish } = await bridge({
    here: new StdioServerTransport(input, process.stdout),
    there,
    address: url,
    say: (sentence) => void process.stderr.write(`${sentence}\n`),
  })
  process.stdin.once('end', () => void finish().then(() => input.end()))
  await ended
  return undefined
}
