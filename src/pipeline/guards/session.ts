/** Who is signed in. A page sends anybody else to sign in; a form says that they are signed out. */
import { problem } from '../../errors.ts'
import type { Session } from '../../store/port.ts'
import type { Guard } from '../guard.ts'
import { currentSession, type WithSessions } from '../sessions.ts'

export interface SignedIn {
  readonly session: Session
}

export const session: Guard<WithSessions, object, SignedIn> = {
  name: 'session',
  errors: ['signed_out', 'storage_unavailable'],
  async run({ call }, deps) {
    const found = await currentSession(call, deps)
    if (!found) throw problem('signed_out')
    return { session: found }
  },
}
