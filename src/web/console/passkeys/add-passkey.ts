/** /console/account/passkeys: adds a passkey, after a recent sign-in. */
import { html } from 'hono/html'
import { problem } from '../../../errors.ts'
import { type Answer, redirect } from '../../../http/call.ts'
import { endpoint } from '../../../pipeline/endpoint.ts'
import { again, type Sent } from '../../../pipeline/guards/form.ts'
import { WRITE_ERRORS } from '../../../pipeline/problem.ts'
import { keptUserAgent } from '../../../pipeline/sessions.ts'
import { type AddPasskeyAnswer, PASSKEYS_PER_ACCOUNT } from '../../../store/port/passkeys.ts'
import { refusalNote, type Typed, untouched } from '../../layout/fields.ts'
import { type Html, showPage } from '../../layout/page.ts'
import { ACCOUNT } from '../../layout/paths.ts'
import { isConfirmed, proof, recentSignIn } from '../account/recent-sign-in.ts'
import { formForSignedIn, forSignedIn, withInput } from '../guards.ts'
import type { Visit, Workspace } from '../workspace.ts'
import { ASKS, ceremony, type Offered, offeredAt, PASSKEYS, partyAt } from './ceremony.ts'
import { acceptFor } from './challenge.ts'
import { verifyRegistration } from './webauthn.ts'

const FIELD = 'passkey'

const CANCEL = html`<a class="button quiet" href="${ACCOUNT}">Cancel</a>`
const CANCEL_ALONE = html`<p class="actions">${CANCEL}</p>`

/** First the password or another passkey, then the browser's own question. */
function step(asked: Html | undefined, offered: Offered): Html {
  if (asked) return html`${asked}<p class="actions"><button>Go on</button>${CANCEL}</p>`
  if ('why' in offered) return html`<p>${offered.why}</p>${CANCEL_ALONE}`
  return html`${ceremony({ does: 'create', asks: ASKS.add, field: FIELD, label: 'Add a passkey' })}
<p data-without-passkeys>This browser has no passkeys, or runs no scripts: add one with a browser that does.</p>${CANCEL_ALONE}`
}

async function show(visit: Visit, workspace: Workspace, typed: Typed): Promise<Answer> {
  const { call, session } = visit
  const isKnown = isConfirmed(session, workspace.clock())
  const asked = isKnown ? undefined : await proof('password', visit, workspace, typed)
  return showPage(call, workspace.secure, {
    title: 'Add a passkey',
    status: typed.refusal?.status ?? 200,
    session,
    place: 'account',
    trail: [{ name: 'Account', path: ACCOUNT }],
    scripts: ['passkey'],
    body: html`<div class="narrow"><h1>Add a passkey</h1>
<p class="lead">It stays on your device, or with whoever keeps your passkeys. It opens this account without the password.</p>
${refusalNote(typed)}
<form method="post" action="${PASSKEYS}" class="stack">${step(asked, offeredAt(call, workspace))}</form></div>`,
  })
}

export const addPasskeyPage = endpoint({
  operationId: 'consoleAddPasskeyPage',
  method: 'GET',
  path: PASSKEYS,
  guards: forSignedIn,
  handle: (visit, workspace: Workspace) => show(visit, workspace, untouched),
})

const refusals: Readonly<Record<Exclude<AddPasskeyAnswer['outcome'], 'added'>, string>> = {
  spent:
    'Nothing was done now: the form was sent before. Your passkeys are listed on the page of the account.',
  taken: 'Nothing was added: this passkey belongs to an account already.',
  full: `Nothing was added: an account may have ${PASSKEYS_PER_ACCOUNT} passkeys. Remove one before you add another.`,
}

const refused = (cause: unknown) =>
  problem('passkey_refused', { detail: 'The passkey was not added. Try it once more.', cause })

/** Throws `passkey_refused`. */
async function registered({ call, session }: Visit, workspace: Workspace, text: string) {
  const party = partyAt(call, workspace)
  if (!party) throw refused('none are offered here')
  const accept = await acceptFor(['add', session.id], workspace)
  return verifyRegistration(party, text, accept).catch((cause: unknown) => {
    throw refused(cause)
  })
}

async function add(visit: Visit & Sent, workspace: Workspace, text: string): Promise<Answer> {
  const { call, session } = visit
  const { challenge, ...made } = await registered(visit, workspace, text)
  const passkey = { ...made, accountId: session.accountId, userAgent: keptUserAgent(call) }
  const { outcome } = await workspace.sessions.addPasskey(passkey, challenge, workspace.clock())
  if (outcome !== 'added') throw problem('passkey_refused', { detail: refusals[outcome] })
  return redirect(call, `${ACCOUNT}?added`)
}

export const addPasskeyForm = endpoint({
  operationId: 'consoleAddPasskey',
  method: 'POST',
  path: PASSKEYS,
  guards: [...formForSignedIn, again(withInput(show)), recentSignIn('password')],
  errors: [...WRITE_ERRORS, 'invalid_body', 'passkey_refused'],
  async handle(visit, workspace: Workspace) {
    const text = visit.sent[FIELD]
    // The guard has confirmed the session; the browser's own question comes next.
    return text ? add(visit, workspace, text) : redirect(visit.call, PASSKEYS)
  },
})
