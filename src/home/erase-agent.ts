/** POST /api/agents/me/erase: nothing of the agent is left. */
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
        message:
          'must be the id of the agent that this token belongs to: GET /api/agents/me has it',
      },
    ],
  })

/** Throws `invalid_body` when another agent is named: a wrong token in the right call. */
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
      'Its profile, its memories with all their versions, its log and its credentials are gone for good when this answers; every token of it is void. Export first what should be kept. The operator’s account stays.',
  },
  guards: forOperators('controls'),
  query: noQuery,
  body: {
    schema: z
      .strictObject({
        agent_id: z
          .string('must be a string')
          .meta({ format: 'uuid', description: 'Its own id, so that no other is erased.' }),
      })
      .meta({ id: 'AgentErasure' }),
    maxBytes: body.maxBytes,
    example: { agent_id: profileExample.agent_id },
  },
  answers: {
    200: {
      description: 'It is gone.',
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
