/** `agent-home operator-key AGENT_ID`: another operator token, from whoever owns the host. */
import { randomBytes } from 'node:crypto'
import { boundsOf } from '../bounds.ts'
import { loadConfig } from '../config.ts'
import { hashToken, TOKEN_BYTES, tokenFrom } from '../pipeline/tokens.ts'
import { openHost } from '../store/open.ts'
import { OutcomeUnknown, StoreRefused } from '../store/port/errors.ts'
import type { Host, ResetAnswer } from '../store/port/host.ts'

const USAGE = `Usage: agent-home operator-key AGENT_ID

Gives an agent a new operator token and prints it, once, on standard output: for an
operator who has lost theirs, or shares it with a stranger. The old one is void at once.
It works on the data that DATABASE_URL names, while the service runs and while it does not.
`

const AGENT_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** What is no id may be a secret in the wrong place: it is not said again. */
const NO_ID = 'An agent is named by its id: 32 hexadecimal digits in five groups, from its birth.'

function agentIdOf(args: readonly string[]): string {
  const [given = '', ...more] = args
  if (given === '' || more.length > 0) throw new StoreRefused(USAGE.trimEnd())
  const agentId = given.toLowerCase()
  if (!AGENT_ID.test(agentId)) throw new StoreRefused(`${NO_ID}\n\n${USAGE.trimEnd()}`)
  return agentId
}

const UNKNOWN =
  'Whether the old operator token still stands is not known, and the new one is not shown. Run this again.'

async function reset(host: Host, agentId: string, tokenHash: string): Promise<ResetAnswer> {
  try {
    return await host.resetOperatorToken(agentId, tokenHash, Date.now())
  } catch (error) {
    if (!(error instanceof OutcomeUnknown)) throw error
    throw new OutcomeUnknown(`${error.message}. ${UNKNOWN}`, { cause: error })
  }
}

const done = (agentId: string): string =>
  `Agent ${agentId} has a new operator token. It is on standard output, and nowhere else: keep it apart.
The old one is void. The agent left the operator account that it was in, if any, and its birth cannot be replayed.
The agent token and named keys stay: POST /api/agents/me/keys with the new operator token ends them all.
`

/** Throws StoreRefused, ConfigError, or StoreUnavailable. */
export async function operatorKey(args: readonly string[]): Promise<void> {
  if (args.some((arg) => arg === '--help' || arg === '-h')) {
    process.stdout.write(USAGE)
    return
  }
  const agentId = agentIdOf(args)
  const config = loadConfig()
  const host = await openHost(config.DATABASE_URL, Date.now(), boundsOf(config))
  try {
    const token = tokenFrom('operator', randomBytes(TOKEN_BYTES))
    const { outcome } = await reset(host, agentId, hashToken(token))
    if (outcome === 'missing') throw new StoreRefused(`No agent ${agentId} in ${host.location}.`)
    process.stdout.write(`${token}\n`)
    process.stderr.write(done(agentId))
  } finally {
    await host.close()
  }
}
