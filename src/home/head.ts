/**
 * GET /api/agents/me/head: the head of this home's chain of events, signed, so that the service cannot
 * deny later what it once said.
 */
import { z } from 'zod'
import { json } from '../http/call.ts'
import { endpoint } from '../pipeline/endpoint.ts'
import { dateTime } from '../pipeline/schemas.ts'
import { signed } from '../pipeline/signing.ts'
import type { Identity } from '../store/port/identity.ts'
import { iso } from '../time.ts'
import { hash, hashExample } from './events.ts'
import { forAgents, noQuery } from './guards.ts'
import type { Home } from './home.ts'
import { KEY_READ_ERRORS } from './key-scope.ts'
import { refusal } from './refusal.ts'
import { memoryExample, tag } from './schemas.ts'

/** Throws if the identity sees only a part of the home. */
export async function findHead({ store }: Home, identity: Identity) {
  const found = await store.readHead(identity)
  if (found.outcome !== 'head') throw refusal(found)
  return found
}

export const readHead = endpoint({
  operationId: 'readHead',
  method: 'GET',
  path: '/api/agents/me/head',
  docs: {
    tag,
    summary: 'The head of the chain of events',
    description:
      'The newest event and the hash of all events up to it. A client that remembers a head can tell later whether anything before it was changed, dropped or turned back: docs/proof.md describes the format. Not for a key with a prefix.',
  },
  guards: forAgents('reads'),
  query: noQuery,
  answers: {
    200: {
      description: 'The head, and a signed statement of it.',
      schema: z
        .object({
          head: z
            .object({
              id: z.int().min(0).meta({ description: 'The newest event; 0 if there is none.' }),
              hash,
              createdAt: dateTime.optional().meta({ description: 'Absent if there is no event.' }),
            })
            .meta({ id: 'Head' }),
          statement: z.string().meta({
            description:
              'A JWS (EdDSA) of iss, sub (the agent’s id), id, hash and iat, by a key of /.well-known/jwks.json.',
          }),
        })
        .meta({ id: 'HeadResult' }),
      example: {
        head: { id: 117, hash: hashExample, createdAt: memoryExample.updatedAt },
        statement: 'eyJhbGciOiJFZERTQSJ9…',
      },
    },
  },
  errors: KEY_READ_ERRORS,
  async handle({ call, identity }, home: Home) {
    const { head, createdAt } = await findHead(home, identity)
    const issuer = home.origins.ownOrigin(call.host)
    const iat = Math.floor(home.clock() / 1_000)
    const claims = { ...(issuer && { iss: issuer }), sub: identity.agentId, ...head, iat }
    const statement = await signed(await home.signing(), claims)
    const time = createdAt === undefined ? {} : { createdAt: iso(createdAt) }
    return json(call, 200, { head: { ...head, ...time }, statement })
  },
})
