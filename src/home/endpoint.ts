/** The guards in front of every home endpoint, in their one order. */
import { z } from '@hono/zod-openapi'
import { type ErrorCode, problem } from '../errors.ts'
import { clientKey } from '../http/address.ts'
import { BODY_ERRORS, readJson } from '../http/body.ts'
import type { Answer, Call } from '../http/call.ts'
import { retryAfter, showPolicy, showStanding, spend } from '../pipeline/budgets.ts'
import type { Documented, Endpoint, EndpointDocs, Method } from '../pipeline/endpoint.ts'
import {
  bearerToken,
  refuseDuplicateHeaders,
  refuseTokenInQuery,
} from '../pipeline/guards/bearer.ts'
import { checkOrigin } from '../pipeline/guards/origin.ts'
import { hashToken, isWellFormedToken, tokenMark } from '../pipeline/tokens.ts'
import { validateBody, validateQuery } from '../pipeline/validate.ts'
import type { Identity, Refused } from '../store/port.ts'
import type { Home } from './home.ts'
import { type BudgetName, fields } from './limits.ts'

/** Whose credential opens an endpoint. */
export type Access = 'anyone' | 'idempotency-key' | 'either-token' | 'operator-token'

const noQuery = z.strictObject({})

interface Declared<Q extends z.ZodObject, B extends z.ZodType> {
  readonly operationId: string
  readonly method: Method
  readonly path: string
  readonly access: Access
  readonly summary: string
  readonly description?: string
  readonly budget: BudgetName
  readonly query?: Q
  readonly headers?: z.ZodObject
  readonly body?: { readonly schema: B; readonly example: unknown }
  readonly responses: Readonly<Record<number, Documented>>
  /** Beside those that its access, budget, query and body imply. */
  readonly errors: readonly ErrorCode[]
}

/** A home endpoint as declared; the authorization battery is generated from `access`. */
export interface HomeEndpoint extends Endpoint<Home> {
  readonly access: Access
  readonly budget: BudgetName
  readonly whilePaused: boolean
}

export interface OpenSpec extends Declared<z.ZodObject, z.ZodType> {
  readonly access: 'anyone' | 'idempotency-key'
  readonly handle: (call: Call, home: Home) => Promise<Answer>
}

export interface BearerRequest<Q extends z.ZodObject, B extends z.ZodType> {
  readonly call: Call
  readonly identity: Identity
  readonly query: z.output<Q>
  readonly body: z.output<B>
}

export interface BearerSpec<Q extends z.ZodObject, B extends z.ZodType> extends Declared<Q, B> {
  readonly access: 'either-token' | 'operator-token'
  /** The agent token works while the agent is paused. The operator's always does. */
  readonly whilePaused?: boolean
  readonly handle: (request: BearerRequest<Q, B>, home: Home) => Promise<Answer>
}

const impliedByAccess: Readonly<Record<Access, readonly ErrorCode[]>> = {
  anyone: [],
  'idempotency-key': ['invalid_idempotency_key', 'too_many_failures'],
  'either-token': ['credentials_missing', 'invalid_token', 'too_many_failures'],
  'operator-token': [
    'credentials_missing',
    'invalid_token',
    'too_many_failures',
    'insufficient_scope',
  ],
}

const EVERYWHERE: readonly ErrorCode[] = [
  'home_disabled',
  'storage_unavailable',
  'origin_denied',
  'duplicate_header',
  'token_in_query',
  'invalid_query',
  'rate_limited',
]

const WRITE_ERRORS: readonly ErrorCode[] = ['overloaded', 'outcome_unknown']

const schemes: Readonly<Record<Access, readonly string[]>> = {
  anyone: [],
  'idempotency-key': [],
  'either-token': ['agentKey', 'operatorKey'],
  'operator-token': ['operatorKey'],
}

function docsOf(spec: Declared<z.ZodObject, z.ZodType>, pausable: boolean): EndpointDocs {
  const { method, summary, description, query, headers, body, responses, access, errors } = spec
  return {
    summary,
    ...(description && { description }),
    tag: 'Agent home',
    security: schemes[access],
    ...(query && { query }),
    ...(headers && { headers }),
    ...(body && { body }),
    responses,
    errors: [
      ...EVERYWHERE,
      ...impliedByAccess[access],
      ...(pausable ? (['agent_paused'] as const) : []),
      ...(body ? BODY_ERRORS : []),
      ...(method === 'GET' ? [] : WRITE_ERRORS),
      ...errors,
    ],
  }
}

/** Throws `home_disabled`, `duplicate_header`, `token_in_query` or `origin_denied`. */
export function enter(call: Call, home: Home, budget: BudgetName): void {
  showPolicy(call, home.limits.rates[budget])
  if (!home.enabled) throw problem('home_disabled')
  checkOrigin(call, home.origins)
  refuseDuplicateHeaders(call)
  refuseTokenInQuery(call)
}

export const clientOf = (call: Call, home: Home): string => clientKey(call, home.trustedProxies)

/** Counts a credential that was presented in vain against its client's address. */
export async function failAuthentication(call: Call, home: Home, code: ErrorCode): Promise<never> {
  const standing = await home.budgets.take('failures', clientOf(call, home))
  showStanding(call, standing)
  if (!standing.allowed) throw problem('too_many_failures', { headers: retryAfter(standing) })
  throw problem(code)
}

async function failWithoutToken(call: Call, home: Home): Promise<never> {
  showStanding(call, await home.budgets.look('failures', clientOf(call, home)))
  throw problem('credentials_missing')
}

async function identify(call: Call, home: Home): Promise<Identity> {
  const token = bearerToken(call)
  if (token === undefined) return failWithoutToken(call, home)
  const tokenHash = hashToken(token)
  call.notes.token = tokenMark(tokenHash)
  const identity = isWellFormedToken(token) ? await home.store.identify(tokenHash) : undefined
  if (!identity) return failAuthentication(call, home, 'invalid_token')
  call.notes.agent = identity.agentId
  call.notes.as = identity.kind
  return identity
}

/** A verb's refusal of the identity it was given, as the problem it is. */
export const refusal = ({ outcome }: Refused) =>
  problem(outcome === 'paused' ? 'agent_paused' : 'invalid_token')

type AnyBearerSpec = Pick<BearerSpec<never, never>, 'access' | 'budget' | 'whilePaused'>

function forbidden(identity: Identity, { access, whilePaused }: AnyBearerSpec) {
  if (identity.kind === 'operator') return undefined
  if (access === 'operator-token') return problem('insufficient_scope')
  return identity.status === 'paused' && !whilePaused ? refusal({ outcome: 'paused' }) : undefined
}

async function authorize(call: Call, home: Home, spec: AnyBearerSpec): Promise<Identity> {
  const identity = await identify(call, home)
  const denied = forbidden(identity, spec)
  if (denied) {
    // What is not allowed costs nothing: an agent cannot use up its operator's budget.
    showStanding(call, await home.budgets.look(spec.budget, identity.agentId))
    throw denied
  }
  spend(call, await home.budgets.take(spec.budget, identity.agentId))
  return identity
}

/** An endpoint for a bearer of a token. */
export function bearerEndpoint<
  Q extends z.ZodObject = typeof noQuery,
  B extends z.ZodType = z.ZodUndefined,
>(spec: BearerSpec<Q, B>): HomeEndpoint {
  const { operationId, method, path, access, budget, whilePaused = false } = spec
  return {
    operationId,
    method,
    path,
    access,
    budget,
    whilePaused,
    docs: docsOf(spec, access === 'either-token' && !whilePaused),
    async handle(call, home) {
      enter(call, home, spec.budget)
      call.responseHeaders['Cache-Control'] = 'no-store'
      const identity = await authorize(call, home, spec)
      const query = validateQuery(spec.query ?? noQuery, call) as z.output<Q>
      const body = (spec.body && (await readBody(call, spec.body.schema))) as z.output<B>
      return spec.handle({ call, identity, query, body }, home)
    },
  }
}

/** An endpoint without a bearer token; it guards itself beyond `enter`. */
export function openEndpoint(spec: OpenSpec): HomeEndpoint {
  const { operationId, method, path, access, budget, handle } = spec
  return {
    operationId,
    method,
    path,
    access,
    budget,
    whilePaused: true,
    docs: docsOf(spec, false),
    async handle(call, home) {
      enter(call, home, budget)
      call.responseHeaders['Cache-Control'] = 'no-store'
      validateQuery(noQuery, call)
      return handle(call, home)
    },
  }
}

/** Throws `unsupported_media_type`, `body_too_large`, `malformed_json` or `invalid_body`. */
export const readBody = async <B extends z.ZodType>(call: Call, schema: B): Promise<z.output<B>> =>
  validateBody(schema, await readJson(call, fields.body.maxBytes))
