/** Who bears the token of a request (RFC 6750). */
import { problem } from '../../errors.ts'
import type { Call } from '../../http/call.ts'
import type { HomeStore, Identity } from '../../store/port.ts'
import { failAuthentication, type Guarded, showFailures } from '../failures.ts'
import type { Guard } from '../guard.ts'
import { hashToken, isWellFormedToken, tokenMark } from '../tokens.ts'

interface Deps extends Guarded {
  readonly store: Pick<HomeStore, 'identify'>
}

export interface Identified {
  readonly identity: Identity
}

/** The presented token, or undefined where there is none. */
function tokenOf({ requestHeaders: { authorization } }: Call): string | undefined {
  return authorization === undefined ? undefined : /^bearer +(.*)$/i.exec(authorization)?.[1]
}

/** Whom a token speaks for. One that was never issued is not looked up. */
export const identify = (
  token: string,
  tokenHash: string,
  { store }: Pick<Deps, 'store'>,
): ReturnType<HomeStore['identify']> =>
  isWellFormedToken(token) ? store.identify(tokenHash) : undefined

async function refuseWithoutToken(call: Call, deps: Deps): Promise<never> {
  await showFailures(call, deps)
  throw problem('credentials_missing')
}

function establish(call: Call, deps: Deps, identity: Identity | undefined) {
  if (!identity) return failAuthentication(call, deps, 'invalid_token')
  call.notes.agent = identity.agentId
  call.notes.as = identity.kind
  return { identity }
}

export const bearer: Guard<Deps, object, Identified> = {
  name: 'bearer',
  errors: ['credentials_missing', 'invalid_token', 'too_many_failures', 'storage_unavailable'],
  security: ['agentKey', 'operatorKey'],
  run({ call }, deps) {
    const token = tokenOf(call)
    if (token === undefined) return refuseWithoutToken(call, deps)
    const tokenHash = hashToken(token)
    call.notes.token = tokenMark(tokenHash)
    const found = identify(token, tokenHash, deps)
    return found instanceof Promise
      ? found.then((identity) => establish(call, deps, identity))
      : establish(call, deps, found)
  },
}
