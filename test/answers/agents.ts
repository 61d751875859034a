/** Agents for a scene, born without a word in the recording. */
import { freshKey } from '../harness.ts'
import { jsonOf, type Sent, type Visit } from './scene.ts'

export interface Agent {
  readonly id: string
  readonly token: string
  readonly operatorToken: string
}

/** An Idempotency-Key that is the same in every run. */
export const keyOf = (number: number): string => number.toString(16).padStart(64, '0')

export const birthBody = {
  name: 'Atlas',
  purpose: 'Keeps the plan of a long migration.',
  symbol: 'zerno',
  operatorConsent: true,
} as const

export const birthOf = (key: string, more: Readonly<Record<string, unknown>> = {}): Sent => ({
  headers: { 'Idempotency-Key': key },
  json: { ...birthBody, ...more },
})

/** Gives birth without a word in the recording, so its key need not be the same in every run. */
export async function bear(
  visit: Visit,
  more: Readonly<Record<string, unknown>> = {},
): Promise<Agent> {
  const key = freshKey()
  const born = await visit.prepare('POST /api/agents/birth', birthOf(key, more))
  const { agent_id, token, operator_token } = jsonOf(born)
  return { id: `${agent_id}`, token: `${token}`, operatorToken: `${operator_token}` }
}

export const pause = (visit: Visit, { operatorToken }: Agent) =>
  visit.prepare('PATCH /api/agents/me', { bearer: operatorToken, json: { status: 'paused' } })

/** The agent with its new token; the old one is void. */
export async function rotate(visit: Visit, agent: Agent): Promise<Agent> {
  const answer = await visit.prepare('POST /api/agents/me/keys', { bearer: agent.operatorToken })
  return { ...agent, token: `${jsonOf(answer).token}` }
}

export const remember = (
  visit: Visit,
  { token }: Agent,
  key: string,
  text: string,
  expectedVersion = 0,
) =>
  visit.prepare('POST /api/agents/me/memory', {
    bearer: token,
    json: { key, text, expectedVersion },
  })
