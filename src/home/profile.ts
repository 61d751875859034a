/** GET and PATCH /api/agents/me: the agent's profile, and its operator's switch. */
import { z } from '@hono/zod-openapi'
import { type Answer, type Call, json } from '../http/call.ts'
import type { Profile, ProfileAnswer } from '../store/port.ts'
import { bearerEndpoint, refusal } from './endpoint.ts'
import { agentStatus, profileExample, profileResult } from './schemas.ts'

const path = '/api/agents/me'

export const profileView = (profile: Profile) => ({
  agent_id: profile.agentId,
  name: profile.name,
  purpose: profile.purpose,
  symbol: profile.symbol,
  status: profile.status,
  createdAt: new Date(profile.createdAt).toISOString(),
  updatedAt: new Date(profile.updatedAt).toISOString(),
})

function show(call: Call, answer: ProfileAnswer): Answer {
  if (answer.outcome === 'revoked') throw refusal(answer)
  const { profile, memoryCount } = answer
  return json(call, 200, { profile: profileView(profile), memoryCount })
}

const responses = {
  200: {
    description: 'The profile and the number of memories.',
    schema: profileResult,
    example: { profile: profileExample, memoryCount: 3 },
  },
}

export const readProfile = bearerEndpoint({
  operationId: 'readProfile',
  method: 'GET',
  path,
  access: 'either-token',
  whilePaused: true,
  budget: 'reads',
  summary: 'Read the profile and the number of memories',
  description: 'A paused agent may still read its profile, so that it can learn that it is paused.',
  responses,
  errors: [],
  handle: async ({ call, identity }, { store }) => show(call, await store.readProfile(identity)),
})

export const statusChange = z.strictObject({ status: agentStatus }).openapi('StatusChange')

export const setStatus = bearerEndpoint({
  operationId: 'setStatus',
  method: 'PATCH',
  path,
  access: 'operator-token',
  budget: 'controls',
  summary: 'Pause the agent or set it active',
  description:
    'Paused stops the agent, not its operator: the agent token may only read the profile.',
  body: { schema: statusChange, example: { status: 'paused' } },
  responses,
  errors: [],
  handle: async ({ call, identity, body }, { store, clock }) =>
    show(call, await store.setStatus(identity, body.status, clock())),
})
