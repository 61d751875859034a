/** POST /console/account/password: another password, from whoever knows the present one. */
import { z } from 'zod'
import { problem } from '../../../errors.ts'
import { fields } from '../../../fields.ts'
import { anotherPassword, PASSWORD_ERRORS, provePassword } from '../../../home/account.ts'
import { type Answer, redirect } from '../../../http/call.ts'
import { endpoint } from '../../../pipeline/endpoint.ts'
import { addressHashOf } from '../../../pipeline/failures.ts'
import { again, type Sent } from '../../../pipeline/guards/form.ts'
import { WRITE_ERRORS } from '../../../pipeline/problem.ts'
import { characters } from '../../../pipeline/schemas.ts'
import { validateBody } from '../../../pipeline/validate.ts'
import { formForSignedIn } from '../guards.ts'
import type { Visit, Workspace } from '../workspace.ts'
import { CHANGED, PASSWORD, showAccount } from './account.ts'

const newPassword = z.object({ password: characters(fields.password) })

async function change({ call, session, sent }: Visit & Sent, workspace: Workspace) {
  const { email, accountId, id } = session
  const { current = '' } = sent
  const { password } = validateBody(newPassword, { password: sent.password ?? '' })
  const presented = { email, password: current, session }
  const { passwordHash: replaces } = await provePassword(call, workspace, presented, 'current')
  const passwordHash = await anotherPassword(call, workspace, { email, password })
  const addressHash = addressHashOf(call, workspace, email)
  const asked = { accountId, replaces, passwordHash, sessionId: id, addressHash }
  return workspace.sessions.changePassword(asked, workspace.clock())
}

/** Of two changes at once, one finds the password that it asked for. */
const overtaken = () =>
  problem('invalid_body', {
    errors: [{ pointer: '/current', message: 'was changed in the meantime' }],
  })

async function changeAndShow(visit: Visit & Sent, workspace: Workspace): Promise<Answer> {
  if (!(await change(visit, workspace))) throw overtaken()
  return redirect(visit.call, CHANGED)
}

export const passwordForm = endpoint({
  operationId: 'consoleChangePassword',
  method: 'POST',
  path: PASSWORD,
  guards: [
    ...formForSignedIn,
    again((visit: Visit & Sent, workspace: Workspace, refusal) =>
      showAccount(visit, workspace, { values: {}, refusal }),
    ),
  ],
  errors: [...WRITE_ERRORS, 'invalid_body', ...PASSWORD_ERRORS],
  handle: (visit, workspace: Workspace) => changeAndShow(visit, workspace),
})
