/** POST /api/agents/me/keys: a new agent token; the old one is void at once. */
import { z } from '@hono/zod-openapi'
import { json } from '../http/call.ts'
import { hashToken, TOKEN_BYTES, tokenFrom } from '../pipeline/tokens.ts'
import type { Identity } from '../store/port.ts'
import { bearerEndpoint, refusal } from './endpoint.ts'
import type { Home } from './home.ts'

/** The new agent token. Throws `invalid_token` when the operator's was revoked. */
export async function rotateAgentKey(
  { store, clock, random }: Home,
  identity: Identity,
): Promise<string> {
  const token = tokenFrom('agent', random(TOKEN_BYTES))
  const rotated = await store.rotateAgentToken(identity, hashToken(token), clock())
  if (rotated.outcome === 'revoked') throw refusal(rotated)
  return token
}

const rotation = z
  .object({ token: z.string().openapi({ description: 'The new agent token. Shown once.' }) })
  .openapi('KeyRotation')

export const rotateKey = bearerEndpoint({
  operationId: 'rotateAgentKey',
  method: 'POST',
  path: '/api/agents/me/keys',
  access: 'operator-token',
  budget: 'controls',
  summary: 'Rotate the agent key',
  description:
    'The old agent token is revoked before this answers. The birth can no longer be replayed. If the answer is lost, rotate again.',
  responses: {
    200: {
      description: 'The new agent token.',
      schema: rotation,
      example: { token: 'aha_0000000000000000000000000000000000000000000example' },
    },
  },
  errors: [],
  handle: async ({ call, identity }, home) =>
    json(call, 200, { token: await rotateAgentKey(home, identity) }),
})
