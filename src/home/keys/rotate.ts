/** POST /api/agents/me/keys: a new agent token; the old one and all named keys become invalid at once. */
import { z } from 'zod'
import { json } from '../../http/call.ts'
import { endpoint } from '../../pipeline/endpoint.ts'
import { WRITE_ERRORS } from '../../pipeline/problem.ts'
import { hashToken, TOKEN_BYTES, tokenFrom } from '../../pipeline/tokens.ts'
import type { Identity } from '../../store/port/home.ts'
import { forOperators, noQuery } from '../guards.ts'
import type { Home } from '../home.ts'
import { refusal } from '../refusal.ts'
import { tag } from '../schemas.ts'

/** The new agent token. Throws `invalid_token` if the operator token was revoked. */
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
  .object({ token: z.string().meta({ description: 'The new agent token. Shown only once.' }) })
  .meta({ id: 'KeyRotation' })

export const rotateKey = endpoint({
  operationId: 'rotateAgentKey',
  method: 'POST',
  path: '/api/agents/me/keys',
  docs: {
    tag,
    summary: 'Rotate the agent key',
    description:
      'For a token that may have leaked. When the response is sent, the old agent token and all named keys are already invalid. The birth can no longer be replayed. If the response is lost, rotate again.',
  },
  guards: forOperators('controls'),
  query: noQuery,
  answers: {
    200: {
      description: 'The new agent token.',
      schema: rotation,
      example: { token: 'aha_0000000000000000000000000000000000000000000example' },
    },
  },
  errors: WRITE_ERRORS,
  handle: async ({ call, identity }, home: Home) =>
    json(call, 200, { token: await rotateAgentKey(home, identity) }),
})
