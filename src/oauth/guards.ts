/** Guards of OAuth's endpoints. */
import { z } from 'zod'
import { problem } from '../errors.ts'
import type { BudgetName } from '../home/limits.ts'
import { answer } from '../http/call.ts'
import { spend } from '../pipeline/budgets.ts'
import { clientOf, type Guarded } from '../pipeline/failures.ts'
import type { Guard } from '../pipeline/guard.ts'
import { type Announced, announce } from '../pipeline/guards/budget.ts'
import { letAllRead } from '../pipeline/guards/origin.ts'
import { enabled, noStore } from '../pipeline/guards/private.ts'
import type { OriginPolicy } from '../pipeline/origins.ts'

export const tag = 'OAuth'

interface Offered {
  readonly issuer: string
}

/** OAuth needs https, or this machine's loopback: tokens must not be read on the way. */
export const offered: Guard<{ readonly origins: OriginPolicy }, object, Offered> = {
  name: 'offered',
  errors: ['oauth_unavailable'],
  run({ call }, { origins }) {
    const issuer = origins.issuer(call.host)
    if (issuer === undefined) throw problem('oauth_unavailable')
    return { issuer }
  },
}

/** Takes one request from the budget of the client's address. */
export const perAddress: Guard<Guarded, Announced, void> = {
  name: 'per-address',
  errors: ['rate_limited'],
  headers: ['RateLimit', 'RateLimit-Policy'],
  async run({ call, budget }, deps) {
    spend(call, await deps.budgets.take(budget.name, clientOf(call, deps)))
  },
}

const HEADERS = 'Authorization, Content-Type, MCP-Protocol-Version'

/** CORS: clients may be pages of any origin; no cookie is read here. */
export const openToPages: Guard<unknown, object, void> = {
  name: 'open-to-pages',
  errors: [],
  headers: ['Access-Control-Allow-Origin', 'Access-Control-Expose-Headers'],
  run: ({ call }) => letAllRead(call),
  onRefusal: letAllRead,
  preflight(call, _, allow) {
    letAllRead(call)
    call.responseHeaders['Access-Control-Allow-Methods'] = allow
    call.responseHeaders['Access-Control-Allow-Headers'] = HEADERS
    call.responseHeaders['Access-Control-Max-Age'] = '600'
    return answer(call, 204, null)
  },
}

/** RFC 6749, section 5.2. */
const oauthError = z
  .object({ error: z.string(), error_description: z.string().optional() })
  .meta({ id: 'OAuthError' })

/** For clients. */
export const forClients = (budget: BudgetName) =>
  [noStore, openToPages, announce(budget), enabled, offered, perAddress] as const

const refused = (description: string) =>
  ({ description, schema: oauthError, mediaType: 'application/json' }) as const

/** The refusals of the protocol, by their status; those of this service are problems. */
export const refusals = {
  400: refused('What was sent is not valid, or not any more.'),
  401: refused('The client is not known.'),
} as const
