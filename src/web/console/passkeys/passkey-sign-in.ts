/** POST /console/sign-in/passkey: a passkey in the place of address and password. */
import { redirect } from '../../../http/call.ts'
import { endpoint } from '../../../pipeline/endpoint.ts'
import { WRITE_ERRORS } from '../../../pipeline/problem.ts'
import { beginSession, currentSession } from '../../../pipeline/sessions.ts'
import { destination, signInAgain } from '../account/sign-in.ts'
import { formForAnyone } from '../guards.ts'
import type { Workspace } from '../workspace.ts'
import { ASKS } from './options.ts'
import { PASSKEY_ERRORS, signInByPasskey } from './prove.ts'

export const passkeySignInForm = endpoint({
  operationId: 'consolePasskeySignIn',
  method: 'POST',
  path: ASKS.signIn,
  guards: [...formForAnyone, signInAgain],
  errors: [...WRITE_ERRORS, ...PASSKEY_ERRORS, 'too_many_sign_ins'],
  async handle({ call, sent: { passkey = '', next } }, workspace: Workspace) {
    const session = await currentSession(call, workspace)
    const account = await signInByPasskey(call, workspace, passkey, session)
    await beginSession(call, workspace, account)
    return redirect(call, destination(next))
  },
})
