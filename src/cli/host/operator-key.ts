/** `agent-home operator-key AGENT_ID`: a new operator token, issued by the host's owner. */
import { randomBytes } from 'node:crypto'
import { hashToken, TOKEN_BYTES, tokenFrom } from '../../pipeline/tokens.ts'
import { OutcomeUnknown } from '../../store/port/errors.ts'
import type { Host, ResetAnswer } from '../../store/port/host.ts'
import type { Given, Report } from '../command.ts'
import { missing, usage } from '../failure.ts'
import { onHost } from './on-host.ts'

const AGENT_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** What is no agent id may be a token, so it is not printed. */
const NO_ID = 'An agent is named by its id: 32 hexadecimal digits in five groups, from its birth.'

function agentIdOf([given = '']: Given['args']): string {
  const agentId = given.toLowerCase()
  if (!AGENT_ID.test(agentId)) throw usage(NO_ID)
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
The old one no longer works. The agent left the operator account that it was in, if any, and its birth cannot be replayed.
The agent token and named keys stay: POST /api/agents/me/keys with the new operator token ends them all.
`

export async function operatorKey({ args }: Given): Promise<Report> {
  const agentId = agentIdOf(args)
  return onHost(async (host) => {
    const token = tokenFrom('operator', randomBytes(TOKEN_BYTES))
    const { outcome } = await reset(host, agentId, hashToken(token))
    if (outcome === 'missing') throw missing(`No agent ${agentId} in ${host.location}.`)
    const value = { agent_id: agentId, operator_token: token }
    return { value, text: `${token}\n`, note: done(agentId) }
  })
}
