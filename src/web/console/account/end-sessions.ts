/** POST /console/account/sessions and …/others: a browser is signed out, or every other one. */
import { problem } from '../../../errors.ts'
import { redirect } from '../../../http/call.ts'
import { endpoint } from '../../../pipeline/endpoint.ts'
import { WRITE_ERRORS } from '../../../pipeline/problem.ts'
import { ACCOUNT } from '../../layout/paths.ts'
import { formForSignedIn } from '../guards.ts'
import type { Workspace } from '../workspace.ts'
import { SESSIONS } from './sessions.ts'

export const revokeSessionForm = endpoint({
  operationId: 'consoleRevokeSession',
  method: 'POST',
  path: SESSIONS,
  guards: formForSignedIn,
  errors: [...WRITE_ERRORS, 'not_found'],
  async handle({ call, session, sent: { id = '' } }, { sessions }: Workspace) {
    const revoked = await sessions.revokeSession(session.accountId, id)
    if (!revoked) throw problem('not_found', { detail: 'Your account has no such session.' })
    return redirect(call, ACCOUNT)
  },
})

export const endOthersForm = endpoint({
  operationId: 'consoleEndOtherSessions',
  method: 'POST',
  path: `${SESSIONS}/others`,
  guards: formForSignedIn,
  errors: WRITE_ERRORS,
  async handle({ call, session }, { sessions }: Workspace) {
    await sessions.endOtherSessions(session.accountId, session.id)
    return redirect(call, ACCOUNT)
  },
})
