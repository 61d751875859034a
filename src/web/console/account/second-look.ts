/** Asked before what cannot be undone: whoever holds the session must know the password too. */
import { problem } from '../../../errors.ts'
import { PASSWORD_ERRORS, provePassword } from '../../../home/account.ts'
import type { Guard } from '../../../pipeline/guard.ts'
import type { Sent } from '../../../pipeline/guards/form.ts'
import type { SignedIn } from '../../../pipeline/guards/session.ts'
import type { Session } from '../../../store/port/sessions.ts'
import { input, type Typed } from '../../layout/fields.ts'
import { type Html, nothing } from '../../layout/page.ts'
import type { Visit, Workspace } from '../workspace.ts'

const LASTS_MS = 10 * 60_000

const isConfirmed = ({ confirmedAt }: Session, now: number): boolean => now - confirmedAt < LASTS_MS

/** The field that a form asks by, where it must; its name is the guard's. */
export const proof = (
  name: string,
  { session }: Pick<Visit, 'session'>,
  { clock }: Workspace,
  typed: Typed,
): Html =>
  isConfirmed(session, clock())
    ? nothing
    : input(
        {
          name,
          label: 'Your password',
          type: 'password',
          autocomplete: 'current-password',
          secret: true,
          hint: 'Asked again because this cannot be undone. It is remembered for ten minutes.',
        },
        typed,
      )

const missing = (field: string) =>
  problem('invalid_body', {
    errors: [{ pointer: `/${field}`, message: 'must be given: nothing was changed' }],
  })

/** The session is remembered as confirmed, and the form that is shown again knows it. */
export const secondLook = (field: string): Guard<Workspace, Visit & Sent, SignedIn> => ({
  name: 'second-look',
  errors: ['invalid_body', ...PASSWORD_ERRORS],
  async run({ call, session, sent }, workspace) {
    const now = workspace.clock()
    if (isConfirmed(session, now)) return { session }
    const password = sent[field]
    if (!password) throw missing(field)
    const presented = { email: session.email, password, session }
    await provePassword(call, workspace, presented, field)
    await workspace.sessions.confirmSession(session.id, now)
    return { session: { ...session, confirmedAt: now } }
  },
})
