/** The agent in the path is one of the account's; what is done to it is done as its operator. */
import { problem } from '../../errors.ts'
import type { SessionStore } from '../../store/port.ts'
import type { Guard } from '../guard.ts'
import type { Identified } from './bearer.ts'
import type { SignedIn } from './session.ts'

interface OfAgent {
  readonly params: { readonly agent: string }
}

/** Another account's agent is as absent as one that never was. */
export const owner: Guard<
  { readonly sessions: Pick<SessionStore, 'identifyOwner'> },
  SignedIn & OfAgent,
  Identified
> = {
  name: 'owner',
  errors: ['not_found', 'storage_unavailable'],
  async run({ call, session, params }, { sessions }) {
    const identity = await sessions.identifyOwner(session.accountId, params.agent)
    if (!identity) throw problem('not_found', { detail: 'Your account has no such agent.' })
    call.notes.agent = identity.agentId
    call.notes.as = 'console'
    return { identity }
  },
}
