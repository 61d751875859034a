/** /console/account/passkeys: adds a passkey, after a recent sign-in. */
import { html } from 'hono/html'
import { problem } from '../../../errors.ts'
import { keptUserAgent } from '../../../pipeline/sessions.ts'
import { type AddPasskeyAnswer, PASSKEYS_PER_ACCOUNT } from '../../../store/port/passkeys.ts'
import { type Html, nothing } from '../../layout/page.ts'
import { ACCOUNT } from '../../layout/paths.ts'
import { isConfirmed } from '../account/recent-sign-in.ts'
import { accountTwoStep } from '../two-step.ts'
import type { Visit, Workspace } from '../workspace.ts'
import { ASKS, ceremony, type Offered, offeredAt, PASSKEYS, partyAt } from './ceremony.ts'
import { acceptFor } from './challenge.ts'
import { verifyRegistration } from './webauthn.ts'

const FIELD = 'passkey'

/** The browser's own question. */
const question = (offered: Offered): Html =>
  'why' in offered
    ? html`<p>${offered.why}</p>`
    : html`${ceremony({ does: 'create', asks: ASKS.add, field: FIELD, label: 'Add a passkey' })}
<p data-without-passkeys>This browser does not support passkeys or does not run scripts: use another one.</p>`

const refusals: Readonly<Record<Exclude<AddPasskeyAnswer['outcome'], 'added'>, string>> = {
  spent:
    'Nothing was done: the form was already sent. Your passkeys are listed on the account page.',
  taken: 'Nothing was added: this passkey already belongs to an account.',
  full: `Nothing was added: an account may have ${PASSKEYS_PER_ACCOUNT} passkeys. Remove one before you add another.`,
}

const refused = (cause: unknown) =>
  problem('passkey_refused', { detail: 'The passkey was not added. Try again.', cause })

/** Throws `passkey_refused`. */
async function registered({ call, session }: Visit, workspace: Workspace, text: string) {
  const party = partyAt(call, workspace)
  if (!party) throw refused('none are offered here')
  const accept = await acceptFor(['add', session.id], workspace)
  return verifyRegistration(party, text, accept).catch((cause: unknown) => {
    throw refused(cause)
  })
}

export const addPasskey = accountTwoStep({
  operationId: 'consoleAddPasskey',
  path: PASSKEYS,
  errors: ['passkey_refused'],
  view({ call, session }, workspace) {
    const isKnown = isConfirmed(session, workspace.clock())
    return {
      title: 'Add a passkey',
      place: 'account',
      trail: [{ name: 'Account', path: ACCOUNT }],
      heading: html`Add a passkey`,
      lead: 'It stays on your device or in your password manager, and opens this account without the password.',
      fields: isKnown ? question(offeredAt(call, workspace)) : nothing,
      button: isKnown ? undefined : 'Go on',
      cancel: ACCOUNT,
    }
  },
  async send(visit, workspace) {
    const { call, session, sent } = visit
    const { [FIELD]: text } = sent
    // The session is confirmed by now; the browser's own question comes next.
    if (!text) return PASSKEYS
    const { challenge, ...made } = await registered(visit, workspace, text)
    const passkey = { ...made, accountId: session.accountId, userAgent: keptUserAgent(call) }
    const { outcome } = await workspace.sessions.addPasskey(passkey, challenge, workspace.clock())
    if (outcome !== 'added') throw problem('passkey_refused', { detail: refusals[outcome] })
    return `${ACCOUNT}?added`
  },
})
