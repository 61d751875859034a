/** Sessions, and the agents that belong to the account. */
import { problem } from '../../errors.ts'
import type { Owner, Session, SessionStore } from '../../store/port/sessions.ts'
import type { Guard } from '../guard.ts'
import { currentSession, type WithSessions } from '../sessions.ts'
import type { Identified } from './bearer.ts'

export interface SignedIn {
  readonly session: Session
}

/** Without a session, a page redirects to the sign-in, and a form reports `signed_out`. */
export const session: Guard<WithSessions, object, SignedIn> = {
  name: 'session',
  errors: ['signed_out', 'storage_unavailable'],
  async run({ call }, deps) {
    const found = await currentSession(call, deps)
    if (!found) throw problem('signed_out')
    return { session: found }
  },
}

/** A session whose account is an administrator; for others there is no such page. */
export const admin: Guard<WithSessions, object, SignedIn> = {
  name: 'admin',
  errors: [...session.errors, 'not_found'],
  async run(request, deps) {
    const found = await session.run(request, deps)
    if (!found.session.isAdmin) throw problem('not_found')
    return found
  },
}

/** As the operator of an agent; undefined if it is not in the account. */
export async function ownerOf(
  { sessions }: { readonly sessions: Pick<SessionStore, 'identifyOwner'> },
  { accountId, email }: Session,
  agentId: string,
): Promise<Owner | undefined> {
  const found = await sessions.identifyOwner(accountId, agentId)
  return found && { ...found, identity: { ...found.identity, via: 'console', account: email } }
}

/** The operator of the agent in the path. */
export interface OfOwner extends Identified {
  /** The home's newest event at that moment: the page shows at least this state. */
  readonly lastEvent: number
}

/**
 * The agent in the path must belong to the account; the request then acts as its operator.
 * For another account's agent the answer is the same as for one that does not exist.
 */
export const owner: Guard<
  { readonly sessions: Pick<SessionStore, 'identifyOwner'> },
  SignedIn & { readonly params: { readonly agent: string } },
  OfOwner
> = {
  name: 'owner',
  errors: ['not_found', 'storage_unavailable'],
  async run({ call, session, params }, deps) {
    const found = await ownerOf(deps, session, params.agent)
    if (!found) throw problem('not_found', { detail: 'Your account has no such agent.' })
    call.notes.agent = found.identity.agentId
    call.notes.as = 'console'
    return found
  },
}
