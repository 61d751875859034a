/** POST /api/agents/me/erase: permanently erases the agent. */
import { z } from 'zod'
import { problem } from '../errors.ts'
import { json } from '../http/call.ts'
import { endpoint } from '../pipeline/endpoint.ts'
import { WRITE_ERRORS } from '../pipeline/problem.ts'
import type { Identity } from '../store/port/home.ts'
import { forOperators, noQuery } from './guards.ts'
import type { Home } from './home.ts'
import { body } from './limits.ts'
import { refusal } from './refusal.ts'
import { profileExample, tag } from './schemas.ts'

const agentId = z.object({ agent_id: z.string().meta({ format: 'uuid' }) })

const isAnother = () =>
  problem('invalid_body', {
    errors: [
      {
        pointer: '/agent_id',
        message: 'must be the id of the agent that this token belongs to: see GET /api/agents/me',
      },
    ],
  })

/**
 * Throws `invalid_body` if the body names another agent, which means that the token is the wrong
 * one.
 */
export async function eraseWhole(
  { store, clock }: Home,
  identity: Identity,
  named: string,
): Promise<void> {
  if (named !== identity.agentId) throw isAnother()
  const erased = await store.eraseAgent(identity, clock())
  if (erased.outcome === 'revoked') throw refusal(erased)
}

export const eraseAgent = endpoint({
  operationId: 'eraseAgent',
  method: 'POST',
  path: '/api/agents/me/erase',
  docs: {
    tag,
    summary: 'Erase the agent',
    description:
      'When this call returns, the profile, the memories with all their versions, the log and the credentials are permanently erased, and all tokens of the agent are invalid. Export first what you want to keep. The operator’s account is not affected.',
  },
  guards: forOperators('controls'),
  query: noQuery,
  body: {
    schema: z
      .strictObject({
        agent_id: z.string('must be a string').meta({
          format: 'uuid',
          description: 'The id of the agent, to make sure that no other agent is erased.',
        }),
      })
      .meta({ id: 'AgentErasure' }),
    maxBytes: body.maxBytes,
    example: { agent_id: profileExample.agent_id },
  },
  answers: {
    200: {
      description: 'The agent was erased.',
      schema: z.object({ erased: agentId }).meta({ id: 'ErasedAgent' }),
      example: { erased: { agent_id: profileExample.agent_id } },
    },
  },
  errors: WRITE_ERRORS,
  async handle({ call, identity, body }, home: Home) {
    await eraseWhole(home, identity, body.agent_id)
    return json(call, 200, { erased: { agent_id: identity.agentId } })
  },
})
