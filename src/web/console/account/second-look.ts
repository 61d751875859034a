/** Asked before what cannot be undone: whoever holds the session must have the password too, or a passkey. */
import { html } from 'hono/html'
import { PASSWORD_ERRORS, provePassword } from '../../../home/account.ts'
import type { Call } from '../../../http/call.ts'
import type { Guard } from '../../../pipeline/guard.ts'
import type { Sent } from '../../../pipeline/guards/form.ts'
import type { SignedIn } from '../../../pipeline/guards/session.ts'
import type { Session } from '../../../store/port/sessions.ts'
import { fieldProblem, input, type Typed } from '../../layout/fields.ts'
import { type Html, nothing } from '../../layout/page.ts'
import { ASKS, ceremony } from '../passkeys/ceremony.ts'
import { PASSKEY_ERRORS, provePasskey } from '../passkeys/prove.ts'
import { partyAt } from '../passkeys/relying-party.ts'
import type { Visit, Workspace } from '../workspace.ts'

const LASTS_MS = 10 * 60_000

export const isConfirmed = ({ confirmedAt }: Session, now: number): boolean =>
  now - confirmedAt < LASTS_MS

/** What takes a passkey's answer in each of these forms. */
const FIELD = 'proof'

const passwordField = (name: string, typed: Typed): Html =>
  input(
    {
      name,
      label: 'Your password',
      type: 'password',
      autocomplete: 'current-password',
      hint: 'Asked again to be sure that it is you. It is remembered for ten minutes.',
    },
    typed,
  )

const passkeyButton = ceremony({
  does: 'get',
  asks: ASKS.confirm,
  field: FIELD,
  label: 'Use a passkey instead',
  quiet: true,
})

/** Whether the account has one for the name that the service was opened by. */
async function hasPasskey({ call, session }: Visit, workspace: Workspace): Promise<boolean> {
  const party = partyAt(call, workspace)
  if (!party) return false
  const passkeys = await workspace.sessions.listPasskeys(session.accountId)
  return passkeys.some(({ site }) => site === party.name)
}

/** What a form asks by, where it must; the name of its field is the guard's. */
export async function proof(
  name: string,
  visit: Visit,
  workspace: Workspace,
  typed: Typed,
): Promise<Html> {
  if (isConfirmed(visit.session, workspace.clock())) return nothing
  const button = (await hasPasskey(visit, workspace)) ? passkeyButton : nothing
  return html`${passwordField(name, typed)}${button}`
}

interface Shown {
  readonly password: string | undefined
  /** What a passkey answered. */
  readonly text: string | undefined
  readonly field: string
}

async function look(
  call: Call,
  workspace: Workspace,
  session: Session,
  { password, text, field }: Shown,
): Promise<void> {
  if (text) return provePasskey(call, workspace, session, { text, field })
  if (!password) throw fieldProblem(field, 'must be given: nothing was changed')
  await provePassword(call, workspace, { email: session.email, password, session }, field)
}

/** The session is remembered as confirmed, and the form that is shown again knows it. */
export const secondLook = (field: string): Guard<Workspace, Visit & Sent, SignedIn> => ({
  name: 'second-look',
  errors: ['invalid_body', ...PASSWORD_ERRORS, ...PASSKEY_ERRORS],
  async run({ call, session, sent }, workspace) {
    const now = workspace.clock()
    if (isConfirmed(session, now)) return { session }
    await look(call, workspace, session, { password: sent[field], text: sent[FIELD], field })
    await workspace.sessions.confirmSession(session.id, now)
    return { session: { ...session, confirmedAt: now } }
  },
})
