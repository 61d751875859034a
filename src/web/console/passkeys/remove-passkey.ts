/** POST /console/account/passkeys/remove: a passkey opens nothing any more. */
import { problem } from '../../../errors.ts'
import { redirect } from '../../../http/call.ts'
import { endpoint } from '../../../pipeline/endpoint.ts'
import { WRITE_ERRORS } from '../../../pipeline/problem.ts'
import { ACCOUNT } from '../../layout/paths.ts'
import { formForSignedIn } from '../guards.ts'
import type { Workspace } from '../workspace.ts'
import { PASSKEYS } from './options.ts'

export const removePasskeyForm = endpoint({
  operationId: 'consoleRemovePasskey',
  method: 'POST',
  path: `${PASSKEYS}/remove`,
  guards: formForSignedIn,
  errors: [...WRITE_ERRORS, 'not_found'],
  async handle({ call, session, sent: { id = '' } }, { sessions }: Workspace) {
    const removed = await sessions.removePasskey(session.accountId, id)
    if (!removed) throw problem('not_found', { detail: 'Your account has no such passkey.' })
    return redirect(call, ACCOUNT)
  },
})
