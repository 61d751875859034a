/**
 * POST /api/agents/me/operator-keys: replaces the operator token; can be replayed with its
 * Idempotency-Key.
 */
import { z } from 'zod'
import { json } from '../http/call.ts'
import { endpoint } from '../pipeline/endpoint.ts'
import { bearerBy, identify, operatorOnly } from '../pipeline/guards/bearer.ts'
import { spent } from '../pipeline/guards/budget.ts'
import { WRITE_ERRORS } from '../pipeline/problem.ts'
import { hashToken } from '../pipeline/tokens.ts'
import type { HomeStore } from '../store/port/home.ts'
import type { Identity } from '../store/port/identity.ts'
import { namedRun } from './agent-run.ts'
import {
  deriveOperatorToken,
  hashIdempotencyKey,
  idempotencyKey,
  idempotencyKeyHeader,
  isOwnKey,
  newSalt,
} from './birth-key.ts'
import { entrance, noQuery } from './guards.ts'
import type { Home } from './home.ts'
import { refusal } from './refusal.ts'
import { tag } from './schemas.ts'

/** The identity of the replaced token, if the Idempotency-Key is the one of its replacement. */
async function successorOf(
  { store }: { readonly store: Pick<HomeStore, 'identify' | 'findReplacement'> },
  tokenHash: string,
  key: string | undefined,
): Promise<Identity | undefined> {
  if (key === undefined || !isOwnKey(key)) return undefined
  const replaced = await store.findReplacement(tokenHash)
  // Another key would derive another token.
  return replaced && store.identify(hashToken(deriveOperatorToken(key, replaced.salt)))
}

/** The response may have been lost, and the old token is invalid by then. */
const bearerOrBefore = bearerBy(
  'bearer-or-before',
  async (
    token,
    tokenHash,
    call,
    deps: { readonly store: Pick<HomeStore, 'identify' | 'findReplacement'> },
  ) =>
    (await identify(token, tokenHash, deps)) ??
    successorOf(deps, tokenHash, call.requestHeaders['idempotency-key']),
)

/** The new operator token. Throws `invalid_token` if another one has replaced the identity's. */
export async function replaceOperatorToken(
  { store, clock, random }: Home,
  identity: Identity,
  key: string,
): Promise<string> {
  const salt = newSalt(random)
  const token = deriveOperatorToken(key, salt)
  const next = { keyHash: hashIdempotencyKey(key), salt, tokenHash: hashToken(token) }
  const replaced = await store.replaceOperatorToken(identity, next, clock())
  if (replaced.outcome === 'revoked') throw refusal(replaced)
  return replaced.outcome === 'known' ? deriveOperatorToken(key, replaced.salt) : token
}

export const replaceOperatorKey = endpoint({
  operationId: 'replaceOperatorKey',
  method: 'POST',
  path: '/api/agents/me/operator-keys',
  docs: {
    tag,
    summary: 'Replace the operator key',
    description:
      'For an operator token that others may know. When the response is sent, the old token is already invalid, the agent has been removed from its account, and the birth can no longer be replayed; the agent token and the named keys remain valid. If the response is lost, repeat the call with the same Idempotency-Key and the old token: it returns the same token until the operator token is replaced again.',
    headers: idempotencyKeyHeader,
  },
  guards: [...entrance('controls'), bearerOrBefore, operatorOnly, idempotencyKey, spent, namedRun],
  query: noQuery,
  answers: {
    200: {
      description: 'The new operator token.',
      schema: z
        .object({
          operator_token: z.string().meta({
            description: 'The new operator token. Keep it separate from the agent token.',
          }),
        })
        .meta({ id: 'OperatorKeyReplacement' }),
      example: { operator_token: 'aho_0000000000000000000000000000000000000000000example' },
    },
  },
  errors: WRITE_ERRORS,
  handle: async ({ call, identity, key }, home: Home) =>
    json(call, 200, { operator_token: await replaceOperatorToken(home, identity, key) }),
})
