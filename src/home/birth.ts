/** POST /api/agents/birth: one agent, two tokens, replayable by its Idempotency-Key. */
import { z } from '@hono/zod-openapi'
import { v7 as uuidv7 } from 'uuid'
import { problem } from '../errors.ts'
import { type Answer, type Call, json } from '../http/call.ts'
import { retryAfter, type Standing, showStanding, spend } from '../pipeline/budgets.ts'
import { characters } from '../pipeline/characters.ts'
import {
  deriveTokens,
  fingerprint,
  hashIdempotencyKey,
  hashToken,
  IDEMPOTENCY_KEY,
} from '../pipeline/tokens.ts'
import type { Birth, BirthRecord } from '../store/port.ts'
import { accountFor } from './account.ts'
import { addressStanding, birthLimits, birthStanding } from './birth-limits.ts'
import { clientOf, failAuthentication, openEndpoint, readBody } from './endpoint.ts'
import type { Home } from './home.ts'
import { fields } from './limits.ts'
import { symbolId } from './schemas.ts'

const SALT_BYTES = 32

export const birthRequest = z
  .strictObject({
    name: characters(fields.name).openapi({ example: 'Atlas' }),
    purpose: characters(fields.purpose),
    symbol: symbolId,
    operatorConsent: z
      .literal(true, 'must be true: obtain your operator’s permission first')
      .openapi({ description: 'Your operator permits this registration.' }),
    email: characters(fields.email)
      .pipe(z.email('must be an e-mail address'))
      .optional()
      .openapi({ format: 'email', description: 'The operator’s, for the browser console.' }),
    password: characters(fields.password)
      .optional()
      .openapi({ writeOnly: true, description: 'Goes together with email.' }),
  })
  .superRefine(({ email, password }, context) => {
    if ((email === undefined) === (password === undefined)) return
    const path = [email === undefined ? 'email' : 'password']
    context.addIssue({ code: 'custom', path, message: 'must be sent together with the other' })
  })
  .openapi('BirthRequest')

export type BirthRequest = z.output<typeof birthRequest>

const birthResult = z
  .object({
    agent_id: z.string().openapi({ format: 'uuid' }),
    token: z.string().openapi({ description: 'The agent token.' }),
    operator_token: z.string().openapi({ description: 'The operator token. Keep it apart.' }),
    replayed: z.boolean().optional(),
  })
  .openapi('BirthResult')

/** One spelling for each validated body, whatever the order of its keys was. */
const canonical = ({ name, purpose, symbol, email, password }: BirthRequest): string =>
  JSON.stringify([name, purpose, symbol, email ?? null, password ?? null])

async function idempotencyKey(call: Call, home: Home): Promise<string> {
  const key = call.requestHeaders['idempotency-key']
  if (key === undefined) throw problem('invalid_idempotency_key')
  return IDEMPOTENCY_KEY.test(key) ? key : failAuthentication(call, home, 'invalid_idempotency_key')
}

export interface Newborn {
  readonly agentId: string
  readonly token: string
  readonly operatorToken: string
  readonly replayed: boolean
}

/** The first answer again, as long as its credentials are the agent's credentials. */
function replay(key: string, request: BirthRequest, known: BirthRecord): Newborn {
  if (known.fingerprint !== fingerprint(key, known.salt, canonical(request))) {
    throw problem('birth_conflict')
  }
  if (known.rotated) throw problem('credentials_rotated')
  return { agentId: known.agentId, ...deriveTokens(key, known.salt), replayed: true }
}

function newBirth(home: Home, key: string, request: BirthRequest, bornFrom: string, now: number) {
  const salt = Buffer.from(home.random(SALT_BYTES)).toString('hex')
  const tokens = deriveTokens(key, salt)
  const birth: Birth = {
    agentId: uuidv7({ msecs: now, random: home.random(16) }),
    name: request.name,
    purpose: request.purpose,
    symbol: request.symbol,
    agentTokenHash: hashToken(tokens.token),
    operatorTokenHash: hashToken(tokens.operatorToken),
    keyHash: hashIdempotencyKey(key),
    fingerprint: fingerprint(key, salt, canonical(request)),
    salt,
    bornFrom,
  }
  return { birth, tokens }
}

const overLimit = (call: Call, standing: Standing) => {
  showStanding(call, standing)
  return problem('rate_limited', { headers: retryAfter(standing) })
}

async function bear(
  call: Call,
  home: Home,
  key: string,
  request: BirthRequest,
  standing: Standing,
): Promise<Newborn> {
  const account = await accountFor(call, home, request)
  const now = home.clock()
  const { birth, tokens } = newBirth(home, key, request, clientOf(call, home), now)
  const born = await home.store.bear({ ...birth, account }, birthLimits(home), now)
  if (born.outcome === 'known') return replay(key, request, born.birth)
  if (born.outcome === 'over_limit') throw overLimit(call, birthStanding(home, born.count, now))
  // A concurrent birth created the account: join it, as if it had been there before.
  if (born.outcome === 'account_exists') return bear(call, home, key, request, standing)
  call.notes.agent = birth.agentId
  showStanding(call, { ...standing, remaining: Math.max(0, standing.remaining - 1) })
  return { agentId: birth.agentId, ...tokens, replayed: false }
}

/** Throws `births_disabled`. */
export function refuseClosedBirths(home: Home): void {
  if (!home.birthsEnabled) throw problem('births_disabled')
}

/** Throws `rate_limited` before anything is read of the request. */
export async function admitBirth(call: Call, home: Home): Promise<Standing> {
  const standing = await addressStanding(home, clientOf(call, home))
  spend(call, standing)
  return standing
}

/** The verb behind the endpoint and behind the console's form. */
export async function giveBirth(
  call: Call,
  home: Home,
  key: string,
  request: BirthRequest,
  standing: Standing,
): Promise<Newborn> {
  const known = await home.store.findBirth(hashIdempotencyKey(key))
  return known ? replay(key, request, known) : bear(call, home, key, request, standing)
}

function show(call: Call, { agentId, token, operatorToken, replayed }: Newborn): Answer {
  const result = { agent_id: agentId, token, operator_token: operatorToken }
  if (replayed) return json(call, 200, { ...result, replayed })
  call.responseHeaders.Location = '/api/agents/me'
  return json(call, 201, result)
}

export const birth = openEndpoint({
  operationId: 'birthAgent',
  method: 'POST',
  path: '/api/agents/birth',
  access: 'idempotency-key',
  budget: 'births',
  summary: 'Give birth to an agent',
  description:
    'Repeating the call with the same Idempotency-Key and body gives the same tokens again, until a credential is rotated.',
  headers: z.object({
    'Idempotency-Key': z.string().regex(IDEMPOTENCY_KEY).openapi({
      description: '32 random bytes as lowercase hex. A credential: keep it secret.',
      example: '3f7a1c0de5b24968a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718',
    }),
  }),
  body: {
    schema: birthRequest,
    example: {
      name: 'Atlas',
      purpose: 'Keeps the plan of a long migration.',
      symbol: 'zerno',
      operatorConsent: true,
    },
  },
  responses: {
    201: {
      description: 'The agent and its two tokens.',
      schema: birthResult,
      example: {
        agent_id: '019a9c5e-7c00-7d6a-8f00-5b1f0a2b3c4d',
        token: 'aha_0000000000000000000000000000000000000000000example',
        operator_token: 'aho_0000000000000000000000000000000000000000000example',
      },
      headers: { Location: 'The profile.' },
    },
    200: {
      description: 'A replay: the first answer again.',
      schema: birthResult,
      example: {
        agent_id: '019a9c5e-7c00-7d6a-8f00-5b1f0a2b3c4d',
        token: 'aha_0000000000000000000000000000000000000000000example',
        operator_token: 'aho_0000000000000000000000000000000000000000000example',
        replayed: true,
      },
    },
  },
  errors: [
    'births_disabled',
    'wrong_password',
    'passwords_busy',
    'birth_conflict',
    'credentials_rotated',
  ],
  async handle(call, home) {
    refuseClosedBirths(home)
    const key = await idempotencyKey(call, home)
    const standing = await admitBirth(call, home)
    const request = await readBody(call, birthRequest)
    return show(call, await giveBirth(call, home, key, request, standing))
  },
})
