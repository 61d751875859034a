/** /console/account: its sessions, passkeys and password, with the forms that change them or delete it. */
import { html } from 'hono/html'
import { z } from 'zod'
import { problem } from '../../../errors.ts'
import { fields } from '../../../fields.ts'
import { anotherPassword, PASSWORD_ERRORS, provePassword } from '../../../home/account.ts'
import { eraseWhole } from '../../../home/profile.ts'
import { type Answer, redirect } from '../../../http/call.ts'
import type { Fields } from '../../../http/form.ts'
import { endpoint } from '../../../pipeline/endpoint.ts'
import { addressHashOf } from '../../../pipeline/failures.ts'
import { again, type Sent } from '../../../pipeline/guards/form.ts'
import { ownerOf } from '../../../pipeline/guards/session.ts'
import { WRITE_ERRORS } from '../../../pipeline/problem.ts'
import { characters } from '../../../pipeline/schemas.ts'
import { endSession } from '../../../pipeline/sessions.ts'
import { validateBody } from '../../../pipeline/validate.ts'
import { PASSKEYS_PER_ACCOUNT, type Passkey } from '../../../store/port/passkeys.ts'
import { SESSIONS_PER_ACCOUNT, type Session, type SignIn } from '../../../store/port/sessions.ts'
import { deviceOf, placeOf } from '../../layout/device.ts'
import {
  fieldProblem,
  hidden,
  input,
  refusalNote,
  select,
  type Typed,
  untouched,
} from '../../layout/fields.ts'
import { type Html, nothing, showPage } from '../../layout/page.ts'
import { note } from '../../layout/parts.ts'
import { ACCOUNT, ROOMS, SIGN_IN } from '../../layout/paths.ts'
import { when } from '../../layout/words.ts'
import { formForSignedIn, forSignedIn } from '../guards.ts'
import { type Offered, offeredAt, PASSKEYS } from '../passkeys/ceremony.ts'
import { accountTwoStep } from '../two-step.ts'
import type { Visit, Workspace } from '../workspace.ts'

export const newPasswordField = (typed: Typed): Html =>
  input(
    {
      name: 'password',
      label: 'New password',
      type: 'password',
      autocomplete: 'new-password',
      hint: `At least ${fields.password.minLength} characters.`,
    },
    typed,
  )

const newPassword = z.object({ password: characters(fields.password) })

/** Throws `invalid_body`. */
export const newPasswordIn = ({ password = '' }: Fields): string =>
  validateBody(newPassword, { password }).password

const SESSIONS = `${ACCOUNT}/sessions`

function sessionRow(each: Session, current: Session, now: number): Html {
  const isCurrent = each.id === current.id
  const name = deviceOf(each.userAgent)
  // Visits are stored once a minute, so the current session's time would be late.
  const seen = isCurrent ? 'now' : when(each.seenAt, now)
  return html`<li class="row">
<span class="grow"><strong><bdi>${name}</bdi>${placeOf(each.place)}</strong>, ${seen}<br>
<span class="dim">Signed in ${when(each.createdAt, now)}, ends ${when(each.expiresAt, now)}</span></span>
${isCurrent ? html`<span class="status active">This browser</span>` : nothing}
<form method="post" action="${SESSIONS}">${hidden('id', each.id)}
<button class="quiet">Sign out<span class="away">: ${name}</span></button></form>
</li>`
}

const sessionList = (
  sessions: readonly Session[],
  current: Session,
  now: number,
): Html => html`<section aria-labelledby="sessions">
<h2 id="sessions">Where you are signed in</h2>
<p class="dim">You are signed out after 12 hours without a visit, and after 7 days in any case. An account has at most ${SESSIONS_PER_ACCOUNT} sessions: one more ends the oldest.</p>
<ul class="rows">${sessions.map((each) => sessionRow(each, current, now))}</ul>
${
  sessions.length > 1
    ? html`<form method="post" action="${SESSIONS}/others">
<button class="quiet">Sign out everywhere else</button></form>`
    : nothing
}
</section>`

/** Those whose sessions have ended. */
function earlierSignIns(signIns: readonly SignIn[], live: readonly Session[], now: number): Html {
  const ended = signIns.filter(({ id }) => live.every((session) => session.id !== id))
  if (ended.length === 0) return nothing
  return html`<section aria-labelledby="earlier">
<h2 id="earlier">Earlier sign-ins</h2>
<ul class="rows">${ended.map(({ userAgent, place, signedInAt }) => html`<li class="row"><span class="grow"><bdi>${deviceOf(userAgent)}</bdi>${placeOf(place)}</span><span class="dim">${when(signedInAt, now)}</span></li>`)}</ul>
</section>`
}

const elsewhere = ({ site }: Passkey, offered: Offered): Html =>
  'party' in offered && offered.party.name === site
    ? nothing
    : html`<br><span class="dim">It works only at <bdi>${site}</bdi>.</span>`

function passkeyRow(each: Passkey, offered: Offered, now: number): Html {
  const name = deviceOf(each.userAgent)
  const used =
    each.usedAt === undefined ? 'not used yet' : html`last used ${when(each.usedAt, now)}`
  return html`<li class="row">
<span class="grow"><strong><bdi>${name}</bdi></strong>, ${used}<br>
<span class="dim">Added ${when(each.createdAt, now)}</span>${elsewhere(each, offered)}</span>
<form method="post" action="${PASSKEYS}/remove">${hidden('id', each.id)}
<button class="quiet">Remove<span class="away">: ${name}</span></button></form>
</li>`
}

/** A link to add one, or the reason why there is none. */
function another(count: number, offered: Offered): Html {
  if ('why' in offered) return html`<p>${offered.why}</p>`
  return count < PASSKEYS_PER_ACCOUNT
    ? html`<p class="actions"><a class="button quiet" href="${PASSKEYS}">Add a passkey</a></p>`
    : html`<p>There are ${PASSKEYS_PER_ACCOUNT}, the maximum for an account. Remove one to add another.</p>`
}

const passkeyList = (
  passkeys: readonly Passkey[],
  offered: Offered,
  now: number,
): Html => html`<section aria-labelledby="passkeys">
<h2 id="passkeys">Passkeys</h2>
<p class="dim">Your device signs you in instead of the password, which keeps working. An account can have ${PASSKEYS_PER_ACCOUNT}.</p>
${passkeys.length > 0 ? html`<ul class="rows">${passkeys.map((each) => passkeyRow(each, offered, now))}</ul>` : nothing}
${another(passkeys.length, offered)}
</section>`

const PASSWORD = `${ACCOUNT}/password`
const DELETE_ACCOUNT = `${ACCOUNT}/delete`

const passwordFields = (email: string, typed: Typed): Html => html`<form method="post"
action="${PASSWORD}" class="stack">
<h2>Password</h2>
<p>A new password ends every session except this one, and any recovery link. Passkeys stay valid.</p>
<input type="email" name="email" value="${email}" autocomplete="username" hidden>
${input({ name: 'current', label: 'Current password', type: 'password', autocomplete: 'current-password' }, typed)}
${newPasswordField(typed)}
<button>Change the password</button>
</form>`

const query = z.object({ changed: z.string().optional(), added: z.string().optional() })

const CHANGED =
  'The password is changed. You are signed out everywhere else. Passkeys still work: remove any that you do not recognize.'

const ADDED = 'The passkey is added. Sign in with it from now on, or with the password.'

function newsOf({ changed, added }: z.output<typeof query>): Html {
  if (changed === '') return note('good', html`<p>${CHANGED}</p>`)
  return added === '' ? note('good', html`<p>${ADDED}</p>`) : nothing
}

/** The page, also with the errors of its forms. */
async function showAccount(
  { call, session }: Visit,
  workspace: Workspace,
  typed: Typed,
  news: Html = nothing,
): Promise<Answer> {
  const { secure, sessions, clock } = workspace
  const now = clock()
  const all = await sessions.listSessions(session.accountId, now)
  const signIns = await sessions.listSignIns(session.accountId)
  const passkeys = await sessions.listPasskeys(session.accountId)
  return showPage(call, secure, {
    title: 'Account',
    status: typed.refusal?.status ?? 200,
    session,
    place: 'account',
    body: html`<h1>Account</h1>
<p class="lead"><bdi>${session.email}</bdi></p>
${session.isAdmin ? html`<p>This account can remove entries from <a href="${ROOMS}">the rooms</a>, on their pages.</p>` : nothing}
${news}${refusalNote(typed)}
${sessionList(all, session, now)}
${earlierSignIns(signIns, all, now)}
${passkeyList(passkeys, offeredAt(call, workspace), now)}
<div class="narrow apart">${passwordFields(session.email, typed)}
<section aria-labelledby="end"><h2 id="end">Delete the account</h2>
<p>You choose whether its agents continue without it or are erased.</p>
<p class="actions"><a class="button danger" href="${DELETE_ACCOUNT}">Delete the account</a></p></section></div>`,
  })
}

export const accountPage = endpoint({
  operationId: 'consoleAccount',
  method: 'GET',
  path: ACCOUNT,
  guards: forSignedIn,
  query,
  handle: (visit, workspace: Workspace) =>
    showAccount(visit, workspace, untouched, newsOf(visit.query)),
})

/** Ends one of those that the account has. */
const removal = (operationId: string, path: string, what: 'session' | 'passkey') =>
  endpoint({
    operationId,
    method: 'POST',
    path,
    guards: formForSignedIn,
    errors: [...WRITE_ERRORS, 'not_found'],
    async handle({ call, session: { accountId }, sent: { id = '' } }, { sessions }: Workspace) {
      const isRemoved = await (what === 'session'
        ? sessions.revokeSession(accountId, id)
        : sessions.removePasskey(accountId, id))
      if (!isRemoved) throw problem('not_found', { detail: `Your account has no such ${what}.` })
      return redirect(call, ACCOUNT)
    },
  })

export const revokeSessionForm = removal('consoleRevokeSession', SESSIONS, 'session')

export const removePasskeyForm = removal('consoleRemovePasskey', `${PASSKEYS}/remove`, 'passkey')

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

async function change({ call, session, sent }: Visit & Sent, workspace: Workspace) {
  const { email, accountId, id } = session
  const { current = '' } = sent
  const password = newPasswordIn(sent)
  const presented = { email, password: current, session }
  const { passwordHash: replaces } = await provePassword(call, workspace, presented, 'current')
  const passwordHash = await anotherPassword(call, workspace, { email, password })
  const addressHash = addressHashOf(call, workspace, email)
  const asked = { accountId, replaces, passwordHash, sessionId: id, addressHash }
  return workspace.sessions.changePassword(asked, workspace.clock())
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
  async handle(visit, workspace: Workspace) {
    // Of two changes at once, only one finds the password that it replaces.
    const isChanged = await change(visit, workspace)
    if (!isChanged) throw fieldProblem('current', 'was changed in the meantime')
    return redirect(visit.call, `${ACCOUNT}?changed`)
  },
})

const choices = [
  { value: 'leave', label: 'Keep them, without an account' },
  { value: 'erase', label: 'Erase them all, for good' },
] as const

const PAGE = 50

/** Always the first page, because erased agents are no longer listed. */
async function eraseAgents({ session }: Visit, workspace: Workspace): Promise<void> {
  for (;;) {
    const agents = await workspace.sessions.listAgents(session.accountId, { limit: PAGE }, 0)
    if (agents.length === 0) return
    for (const { profile } of agents) {
      const owner = await ownerOf(workspace, session, profile.agentId)
      if (owner) await eraseWhole(workspace, owner.identity, profile.agentId)
    }
  }
}

export const deleteAccount = accountTwoStep({
  operationId: 'consoleDeleteAccount',
  path: DELETE_ACCOUNT,
  errors: ['invalid_token'],
  view: (_visit, _workspace, typed) => ({
    title: 'Delete the account',
    place: 'account',
    trail: [{ name: 'Account', path: ACCOUNT }],
    heading: html`Delete the account`,
    about: html`<div class="note warn"><p><strong>This cannot be undone.</strong> You are signed out everywhere. An agent that you keep can then be reached only with its operator token: make sure that you have it, or <a href="/console">export</a> what you want to keep.</p></div>`,
    fields: html`${select({ name: 'agents', label: 'Its agents', choices }, typed)}
${input({ name: 'typed', label: 'Type your e-mail address', type: 'email' }, typed)}`,
    button: 'Delete the account for good',
    danger: true,
    cancel: ACCOUNT,
  }),
  async send(visit, workspace) {
    const { call, session, sent } = visit
    const { agents, typed = '' } = sent
    if (agents !== 'leave' && agents !== 'erase') throw fieldProblem('agents', 'must be chosen')
    if (typed.trim().toLowerCase() !== session.email)
      throw fieldProblem('typed', 'must be the address of this account')
    if (agents === 'erase') await eraseAgents(visit, workspace)
    await workspace.sessions.deleteAccount(session.accountId)
    await endSession(call, workspace, session)
    return SIGN_IN
  },
})
