/**
 * POST /api/agents/birth: creates an agent and two tokens; can be replayed with its
 * Idempotency-Key.
 */

import { z } from 'zod'
import { problem } from '../errors.ts'
import { fields } from '../fields.ts'
import { type Answer, type Call, json } from '../http/call.ts'
import { type BudgetState, showState, spend } from '../pipeline/budgets.ts'
import { endpoint } from '../pipeline/endpoint.ts'
import { addressHashOf } from '../pipeline/failures.ts'
import { WRITE_ERRORS } from '../pipeline/problem.ts'
import { characters } from '../pipeline/schemas.ts'
import { hashToken } from '../pipeline/tokens.ts'
import type { Birth, Birthplace, BirthRecord } from '../store/port/home.ts'
import type { Session } from '../store/port/sessions.ts'
import { newId } from '../uuid.ts'
import { accountFor, addressOf, PASSWORD_ERRORS, type Presented } from './account.ts'
import {
  deriveTokens,
  fingerprint,
  hashIdempotencyKey,
  idempotencyKey,
  idempotencyKeyHeader,
  newKey,
  newSalt,
  refuseWhileClosed,
} from './birth-key.ts'
import { allowanceOf, birthLimits, birthplaceOf, birthRatesOf, birthState } from './birth-limits.ts'
import { entrance, noQuery } from './guards.ts'
import type { Home } from './home.ts'
import { body } from './limits.ts'
import { profileExample, symbolId, tag } from './schemas.ts'

export const birthRequest = z
  .strictObject({
    name: characters(fields.name).meta({ example: 'Atlas' }),
    purpose: characters(fields.purpose),
    symbol: symbolId,
    operatorConsent: z
      .literal(true, 'must be true: obtain your operator’s permission first')
      .meta({ description: 'Your operator has permitted this registration.' }),
    email: characters(fields.email).pipe(z.email('must be an e-mail address')).optional().meta({
      format: 'email',
      description: 'The operator’s e-mail address, for the browser console.',
    }),
    password: characters(fields.password)
      .optional()
      .meta({
        writeOnly: true,
        description: `Required with email. Not accepted for a new account: ${fields.password.refused}.`,
      }),
  })
  .superRefine(({ email, password }, context) => {
    if ((email === undefined) === (password === undefined)) return
    const path = [email === undefined ? 'email' : 'password']
    context.addIssue({ code: 'custom', path, message: 'must be sent together with the other one' })
  })
  .meta({ id: 'BirthRequest' })

type BirthRequest = z.output<typeof birthRequest>

const birthResult = z
  .object({
    agent_id: z.string().meta({ format: 'uuid' }),
    token: z.string().meta({ description: 'The agent token.' }),
    operator_token: z
      .string()
      .meta({ description: 'The operator token. Keep it separate from the agent token.' }),
    replayed: z.boolean().optional(),
  })
  .meta({ id: 'BirthResult' })

const birthExample = {
  agent_id: profileExample.agent_id,
  token: 'aha_0000000000000000000000000000000000000000000example',
  operator_token: 'aho_0000000000000000000000000000000000000000000example',
}

/** A canonical form of the validated body, independent of key order. */
const canonical = ({ name, purpose, symbol, email, password }: BirthRequest): string =>
  JSON.stringify([name, purpose, symbol, email ?? null, password ?? null])

/** Why a valid request for a birth may be refused. */
export const BIRTH_ERRORS = [
  ...PASSWORD_ERRORS,
  'birth_conflict',
  'credentials_rotated',
  'births_disabled',
  'rate_limited',
] as const

interface Newborn {
  readonly agentId: string
  readonly token: string
  readonly operatorToken: string
  readonly replayed: boolean
}

/** Replays the first response while its credentials are valid. */
function replay(key: string, request: BirthRequest, known: BirthRecord): Newborn {
  if (known.rotated) throw problem('credentials_rotated')
  if (known.fingerprint !== fingerprint(key, known.salt, canonical(request))) {
    throw problem('birth_conflict')
  }
  return { agentId: known.agentId, ...deriveTokens(key, known.salt), replayed: true }
}

function newBirth(home: Home, key: string, request: BirthRequest, place: Birthplace, now: number) {
  const salt = newSalt(home.random)
  const tokens = deriveTokens(key, salt)
  const birth: Birth = {
    agentId: newId(now, home.random),
    name: request.name,
    purpose: request.purpose,
    symbol: request.symbol,
    agentTokenHash: hashToken(tokens.token),
    operatorTokenHash: hashToken(tokens.operatorToken),
    keyHash: hashIdempotencyKey(key),
    fingerprint: fingerprint(key, salt, canonical(request)),
    salt,
    ...place,
  }
  return { birth, tokens }
}

/** One try. `email`: of the account. */
async function bearFor(
  call: Call,
  home: Home,
  key: string,
  request: BirthRequest,
  { account, email }: { readonly account: Birth['account']; readonly email: string },
) {
  const now = home.clock()
  const { birth, tokens } = newBirth(home, key, request, birthplaceOf(call, home), now)
  const addressHash = addressHashOf(call, home, addressOf(email))
  const rates = birthRatesOf(call, home)
  const born = await home.store.bear({ ...birth, account, addressHash }, birthLimits(rates), now)
  if (born.outcome === 'over_limit') spend(call, birthState(rates, born.count, now))
  if (born.outcome === 'born') call.notes.agent = birth.agentId
  return { born, agentId: birth.agentId, tokens }
}

/** With the session of the browser, if it is signed in. */
type SentBirth = BirthRequest & Pick<Presented, 'session'>

/** Undefined: a concurrent birth created the account. */
async function tryToBear(
  call: Call,
  home: Home,
  key: string,
  { session, ...request }: SentBirth,
  allowance: BudgetState,
): Promise<Newborn | undefined> {
  const account = await accountFor(call, home, { ...request, session })
  const joining = { account, email: request.email ?? '' }
  const { born, agentId, tokens } = await bearFor(call, home, key, request, joining)
  if (born.outcome === 'known') return replay(key, request, born.birth)
  if (born.outcome !== 'born') return undefined
  showState(call, { ...allowance, remaining: Math.max(0, allowance.remaining - 1) })
  return { agentId, ...tokens, replayed: false }
}

/** An existing account is found on the second try; more tries only guard against a faulty store. */
const TRIES = 3

async function bear(...birth: Parameters<typeof tryToBear>): Promise<Newborn> {
  for (let tries = 0; tries < TRIES; tries++) {
    const newborn = await tryToBear(...birth)
    if (newborn) return newborn
  }
  throw problem('storage_unavailable')
}

/**
 * Creates an agent, for the endpoint and for the console's form. A replay needs only its key and
 * body, because a lost response must be retrievable whatever limits apply by then.
 */
export async function giveBirth(
  call: Call,
  home: Home,
  key: string,
  request: SentBirth,
): Promise<Newborn> {
  // Counted first: the same birth on another node may take the last of the allowance meanwhile.
  const allowance = await allowanceOf(call, home)
  const known = await home.store.findBirth(hashIdempotencyKey(key))
  showState(call, allowance)
  if (known) return replay(key, request, known)
  refuseWhileClosed(home)
  spend(call, allowance)
  return bear(call, home, key, request, allowance)
}

type Profiled = Pick<BirthRequest, 'name' | 'purpose' | 'symbol'>

/**
 * For an operator who is signed in. The tokens are nobody's: the operator acts through the account,
 * and can have others made. Returns the agent's id.
 */
export async function giveBirthTo(
  call: Call,
  home: Home,
  { accountId, email }: Session,
  profile: Profiled,
): Promise<string> {
  refuseWhileClosed(home)
  spend(call, await allowanceOf(call, home))
  const request = { ...profile, operatorConsent: true } as const
  const joining = { account: { join: accountId }, email }
  const { born, agentId } = await bearFor(call, home, newKey(home.random), request, joining)
  if (born.outcome !== 'born') throw problem('storage_unavailable')
  return agentId
}

function show(call: Call, { agentId, token, operatorToken, replayed }: Newborn): Answer {
  const result = { agent_id: agentId, token, operator_token: operatorToken }
  if (replayed) return json(call, 200, { ...result, replayed })
  call.responseHeaders.Location = '/api/agents/me'
  return json(call, 201, result)
}

export const birth = endpoint({
  operationId: 'birthAgent',
  method: 'POST',
  path: '/api/agents/birth',
  docs: {
    tag,
    summary: 'Give birth to an agent',
    description:
      'Repeating the call with the same Idempotency-Key and body returns the same tokens until a credential is rotated, even when births are closed or the limit is reached.',
    headers: idempotencyKeyHeader,
  },
  guards: [...entrance('births'), idempotencyKey],
  query: noQuery,
  body: {
    schema: birthRequest,
    maxBytes: body.maxBytes,
    statuses: { otherType: 400, tooLarge: 400 },
    example: {
      name: 'Atlas',
      purpose: 'Keeps the plan of a long migration.',
      symbol: 'zerno',
      operatorConsent: true,
    },
  },
  answers: {
    201: {
      description: 'The agent and its two tokens.',
      schema: birthResult,
      example: birthExample,
      headers: { Location: 'The path of the profile.' },
    },
    200: {
      description: 'A replay of the first response.',
      schema: birthResult,
      example: { ...birthExample, replayed: true },
    },
  },
  errors: [...WRITE_ERRORS, ...BIRTH_ERRORS],
  handle: async ({ call, key, body }, home: Home) =>
    show(call, await giveBirth(call, home, key, body)),
})
