/**
 * `agent-home mcp`: a home's `/mcp` for clients that start programs. Messages are passed on as they
 * are, so the tools are the same by both ways. Nothing but the protocol goes to standard output.
 */
import { PassThrough } from 'node:stream'
import { ConfigError, loadRemote, type Remote } from '../config.ts'
import { isWellFormedToken } from '../pipeline/tokens.ts'
import { bridge } from './mcp-bridge.ts'

const NO_TOKEN =
  'AGENT_HOME_TOKEN is no token of an agent home. Copy it whole, as the birth or the operator gave it: aha_ and 49 characters.'

function requireToken({ AGENT_HOME_TOKEN }: Remote): void {
  if (!isWellFormedToken(AGENT_HOME_TOKEN)) throw new ConfigError(NO_TOKEN)
}

/** Throws ConfigError. Resolves when standard input has ended, and what was asked is answered. */
export async function mcp(): Promise<void> {
  const remote = loadRemote()
  requireToken(remote)
  const [{ StdioServerTransport }, { StreamableHTTPClientTransport }] = await Promise.all([
    import('@modelcontextprotocol/server/stdio'),
    import('@modelcontextprotocol/client'),
  ])
  const there = new StreamableHTTPClientTransport(new URL(`${remote.AGENT_HOME_URL}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${remote.AGENT_HOME_TOKEN}` } },
  })
  // Ended by us: the transport would drop what is still to be answered.
  const input = process.stdin.pipe(new PassThrough(), { end: false })
  const { ended, finish } = await bridge({
    here: new StdioServerTransport(input, process.stdout),
    there,
    address: remote.AGENT_HOME_URL,
    say: (sentence) => void process.stderr.write(`${sentence}\n`),
  })
  process.stdin.once('end', () => void finish().then(() => input.end()))
  await ended
}
