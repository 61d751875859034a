/** Bearer tokens (RFC 6750): how they may be sent, whose they are, and what they permit. */
import { problem } from '../../errors.ts'
import type { Call } from '../../http/call.ts'
import type { HomeStore } from '../../store/port/home.ts'
import type { Identity } from '../../store/port/identity.ts'
import { failAuthentication, type Guarded, showFailures } from '../failures.ts'
import type { Guard } from '../guard.ts'
import { hasExpired, hashToken, isWellFormedToken, tokenMark } from '../tokens.ts'
import { type Announced, refuseUnspent, type WithBudgets } from './budget.ts'

const SINGLE = ['agent-run', 'authorization', 'content-type', 'idempotency-key']

const isRepeated = (name: string, { rawHeaders }: Call): boolean =>
  rawHeaders.filter((each, at) => at % 2 === 0 && each.toLowerCase() === name).length > 1

/** Repeated headers arrive joined by a comma. */
export const singleHeaders: Guard<unknown, object, void> = {
  name: 'single-headers',
  errors: ['duplicate_header'],
  run({ call }) {
    for (const name of SINGLE) {
      if (call.requestHeaders[name]?.includes(',') && isRepeated(name, call)) {
        throw problem('duplicate_header', { detail: `Send the ${name} header once.` })
      }
    }
  },
}

const TOKEN_IN_QUERY = /(?:^|&)(?:access_token|token)=|ah[ao]_[0-9A-Za-z]{20}/

/** Tokens in addresses end up in logs and histories. */
export const noTokenInQuery: Guard<unknown, object, void> = {
  name: 'no-token-in-query',
  errors: ['token_in_query'],
  run({ call }) {
    if (TOKEN_IN_QUERY.test(call.search)) throw problem('token_in_query')
  },
}

interface Deps extends Guarded {
  /** Milliseconds since the epoch. */
  readonly clock: () => number
}

interface WithStore {
  readonly store: Pick<HomeStore, 'identify'>
}

export interface Identified {
  readonly identity: Identity
}

type Found = ReturnType<HomeStore['identify']>

/** The identity of a token. A malformed token is not looked up. */
export const identify = (token: string, tokenHash: string, { store }: WithStore): Found =>
  isWellFormedToken(token) ? store.identify(tokenHash) : undefined

async function refuseWithoutToken(call: Call, deps: Guarded): Promise<never> {
  await showFailures(call, deps)
  throw problem('credentials_missing')
}

/** Of a token that OAuth issued for another endpoint than this. */
const ELSEWHERE = {
  detail:
    'This token was issued for /mcp alone, and is not taken elsewhere. Use a token of the agent, or a named key.',
}

function establish(
  call: Call,
  deps: Deps,
  identity: Identity | undefined,
  audience: Identity['audience'],
) {
  if (!identity) return failAuthentication(call, deps, 'invalid_token')
  if (identity.audience !== undefined && identity.audience !== audience) {
    return failAuthentication(call, deps, 'invalid_token', ELSEWHERE)
  }
  if (hasExpired(identity, deps.clock())) return failAuthentication(call, deps, 'key_expired')
  call.notes.agent = identity.agentId
  call.notes.as = identity.kind
  if (identity.key) call.notes.key = identity.key.name
  return { identity }
}

/** `find`: the identity of the token of this call. `audience`: the endpoint's, if it has one. */
export const bearerBy = <Needed>(
  name: string,
  find: (token: string, tokenHash: string, call: Call, deps: Needed) => Found,
  audience?: Identity['audience'],
): Guard<Deps & Needed, object, Identified> => ({
  name,
  errors: [
    'credentials_missing',
    'invalid_token',
    'key_expired',
    'too_many_failures',
    'storage_unavailable',
  ],
  security: ['agentKey', 'operatorKey'],
  run({ call }, deps) {
    const token = call.requestHeaders.authorization?.match(/^bearer +(.*)$/i)?.[1]
    if (token === undefined) return refuseWithoutToken(call, deps)
    const tokenHash = hashToken(token)
    call.notes.token = tokenMark(tokenHash)
    const found = find(token, tokenHash, call, deps)
    return found instanceof Promise
      ? found.then((identity) => establish(call, deps, identity, audience))
      : establish(call, deps, found, audience)
  },
})

const byToken = (token: string, tokenHash: string, _: Call, deps: WithStore): Found =>
  identify(token, tokenHash, deps)

export const bearer = bearerBy<WithStore>('bearer', byToken)

/** Takes access tokens of OAuth too. */
export const bearerOfMcp = bearerBy<WithStore>('bearer-of-mcp', byToken, 'mcp')

/** Admits only the operator token. */
export const operatorOnly: Guard<WithBudgets, Announced & Identified, void> = {
  name: 'operator-only',
  errors: ['insufficient_scope'],
  security: ['operatorKey'],
  run(request, deps) {
    if (request.identity.kind === 'operator') return
    return refuseUnspent(request, deps, 'insufficient_scope')
  },
}

/** Refuses a paused agent, but not its operator. */
export const notPaused: Guard<WithBudgets, Announced & Identified, void> = {
  name: 'not-paused',
  errors: ['agent_paused'],
  run(request, deps) {
    const { kind, status } = request.identity
    if (kind === 'operator' || status === 'active') return
    return refuseUnspent(request, deps, 'agent_paused')
  },
}
