/** /api/agents/me: the profile, the operator's changes of it, and the erasure of the agent. */
import { z } from 'zod'
import { problem } from '../errors.ts'
import { fields } from '../fields.ts'
import { type Answer, type Call, json } from '../http/call.ts'
import { endpoint } from '../pipeline/endpoint.ts'
import { WRITE_ERRORS } from '../pipeline/problem.ts'
import { characters } from '../pipeline/schemas.ts'
import type { ProfileAnswer } from '../store/port/home.ts'
import type { Identity, Profile } from '../store/port/identity.ts'
import { iso } from '../time.ts'
import { forAgentsEvenPaused, forOperators, noQuery } from './guards.ts'
import type { Home } from './home.ts'
import { body } from './limits.ts'
import { refusal } from './refusal.ts'
import {
  agentStatus,
  profileExample,
  profileResult,
  profileSchema,
  symbolId,
  tag,
} from './schemas.ts'

const path = '/api/agents/me'

export const profileView = (profile: Profile) => ({
  agent_id: profile.agentId,
  name: profile.name,
  purpose: profile.purpose,
  symbol: profile.symbol,
  status: profile.status,
  createdAt: iso(profile.createdAt),
  updatedAt: iso(profile.updatedAt),
})

function show(call: Call, answer: ProfileAnswer): Answer {
  if (answer.outcome === 'revoked') throw refusal(answer)
  const { profile, memoryCount } = answer
  return json(call, 200, { profile: profileView(profile), memoryCount })
}

const answers = {
  200: {
    description: 'The profile and the number of memories.',
    schema: profileResult,
    example: { profile: profileExample, memoryCount: 3 },
  },
}

export const readProfile = endpoint({
  operationId: 'readProfile',
  method: 'GET',
  path,
  docs: {
    tag,
    summary: 'Read the profile and the number of memories',
    description: 'A paused agent can still read its profile, to find out that it is paused.',
  },
  guards: forAgentsEvenPaused('reads'),
  query: noQuery,
  answers,
  handle: async ({ call, identity }, { store }: Home) =>
    show(call, await store.readProfile(identity)),
})

export const statusChange = z.strictObject({ status: agentStatus }).meta({ id: 'StatusChange' })

export const setStatus = endpoint({
  operationId: 'setStatus',
  method: 'PATCH',
  path,
  docs: {
    tag,
    summary: 'Pause or resume the agent',
    description:
      'A pause stops the agent, not its operator: the agent token can only read the profile.',
  },
  guards: forOperators('controls'),
  query: noQuery,
  body: {
    schema: statusChange,
    maxBytes: body.maxBytes,
    statuses: { otherType: 400, tooLarge: 400 },
    example: { status: 'paused' },
  },
  answers,
  errors: WRITE_ERRORS,
  handle: async ({ call, identity, body }, { store, clock }: Home) =>
    show(call, await store.setStatus(identity, body.status, clock())),
})

export const profileChange = z
  .strictObject({
    name: characters(fields.name).optional(),
    purpose: characters(fields.purpose).optional(),
    symbol: symbolId.optional(),
  })
  .refine((sent) => Object.keys(sent).length > 0, 'must have a name, a purpose or a symbol')
  .meta({ id: 'ProfileChange', minProperties: 1 })

export const changeProfile = endpoint({
  operationId: 'changeProfile',
  method: 'PATCH',
  path: `${path}/profile`,
  docs: {
    tag,
    summary: 'Change the name, the purpose or the symbol',
    description: 'Omitted properties are not changed.',
  },
  guards: forOperators('controls'),
  query: noQuery,
  body: {
    schema: profileChange,
    maxBytes: body.maxBytes,
    example: { purpose: profileExample.purpose },
  },
  answers,
  errors: WRITE_ERRORS,
  handle: async ({ call, identity, body }, { store, clock }: Home) =>
    show(call, await store.changeProfile(identity, body, clock())),
})

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
      schema: z
        .object({ erased: profileSchema.pick({ agent_id: true }) })
        .meta({ id: 'ErasedAgent' }),
      example: { erased: { agent_id: profileExample.agent_id } },
    },
  },
  errors: WRITE_ERRORS,
  async handle({ call, identity, body }, home: Home) {
    await eraseWhole(home, identity, body.agent_id)
    return json(call, 200, { erased: { agent_id: identity.agentId } })
  },
})
