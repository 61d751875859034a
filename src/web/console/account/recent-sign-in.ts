/** A recent sign-in: before what cannot be undone, a session must prove its password or a passkey again. */
import { html } from 'hono/html'
import { PASSWORD_ERRORS, provePassword } from '../../../home/account.ts'
import type { Fields } from '../../../http/form.ts'
import type { Facts, Guard } from '../../../pipeline/guard.ts'
import type { Sent } from '../../../pipeline/guards/form.ts'
import type { SignedIn } from '../../../pipeline/guards/session.ts'
import { currentSession } from '../../../pipeline/sessions.ts'
import type { Session } from '../../../store/port/sessions.ts'
import { fieldProblem, input, type Typed } from '../../layout/fields.ts'
import { type Html, nothing } from '../../layout/page.ts'
import { fold } from '../../layout/parts.ts'
import { ASKS, ceremony, partyAt, passkeysFor } from '../passkeys/ceremony.ts'
import { PASSKEY_ERRORS, provePasskey } from '../passkeys/prove.ts'
import type { Visit, Workspace } from '../workspace.ts'

const LASTS_MS = 10 * 60_000

export const isConfirmed = ({ confirmedAt }: Session, now: number): boolean =>
  now - confirmedAt < LASTS_MS

/** The field for a passkey's response in each of these forms. */
const FIELD = 'proof'

const passwordField = (name: string, typed: Typed, required: boolean): Html =>
  input(
    {
      name,
      label: 'Your password',
      type: 'password',
      autocomplete: 'current-password',
      hint: 'To confirm that it is you. You will not be asked again for ten minutes.',
      required,
    },
    typed,
  )

const passkeyButton = ceremony({
  does: 'get',
  asks: ASKS.confirm,
  field: FIELD,
  label: 'Use a passkey',
  quiet: true,
})

async function hasPasskey({ call, session }: Visit, workspace: Workspace): Promise<boolean> {
  const party = partyAt(call, workspace)
  return party !== undefined && (await passkeysFor(party, session, workspace)).length > 0
}

/** The fields of the proof, if it is needed. `name`: the field that the guard is given. */
export async function proof(
  name: string,
  visit: Visit,
  workspace: Workspace,
  typed: Typed,
): Promise<Html> {
  if (isConfirmed(visit.session, workspace.clock())) return nothing
  if (!(await hasPasskey(visit, workspace))) return passwordField(name, typed, true)
  return html`${passkeyButton}${fold({
    summary: html`Use the password`,
    open: typed.refusal !== undefined,
    body: html`<div class="stack">${passwordField(name, typed, false)}</div>`,
  })}`
}

/**
 * The session is stored as confirmed, also for a form that is shown again. `isGrave`: whether what
 * was sent needs it, if one form does several things.
 */
export const recentSignIn = (
  field: string,
  isGrave: (sent: Fields) => boolean = () => true,
): Guard<Workspace, Visit & Sent, SignedIn> => ({
  name: 'recent-sign-in',
  errors: ['invalid_body', ...PASSWORD_ERRORS, ...PASSKEY_ERRORS],
  async run({ call, session, sent }, workspace) {
    const now = workspace.clock()
    if (isConfirmed(session, now) || !isGrave(sent)) return { session }
    const { [field]: password, [FIELD]: text } = sent
    if (text) await provePasskey(call, workspace, session, { text, field })
    else if (!password) throw fieldProblem(field, 'must be given: nothing was changed')
    else await provePassword(call, workspace, { email: session.email, password, session }, field)
    await workspace.sessions.confirmSession(session.id, now)
    return { session: { ...session, confirmedAt: now } }
  },
})

/** For a form that is open to anyone: who is not signed in has no session that could be stolen. */
export function recentIfSignedIn(field: string): Guard<Workspace, Facts & Sent, object> {
  const recent = recentSignIn(field)
  return {
    ...recent,
    name: 'recent-if-signed-in',
    async run(request, workspace) {
      const session = await currentSession(request.call, workspace)
      return session ? recent.run({ ...request, session }, workspace) : {}
    },
  }
}
