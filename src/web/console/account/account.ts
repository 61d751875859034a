/** /console/account: whose it is, where it is signed in, its passkeys and its password. */
import { html } from 'hono/html'
import { z } from 'zod'
import type { Answer } from '../../../http/call.ts'
import { endpoint } from '../../../pipeline/endpoint.ts'
import { input, refusalNote, type Typed, untouched } from '../../layout/fields.ts'
import { type Html, nothing, showPage } from '../../layout/page.ts'
import { note } from '../../layout/parts.ts'
import { ACCOUNT } from '../../layout/paths.ts'
import { forSignedIn } from '../guards.ts'
import { passkeyList } from '../passkeys/passkey-list.ts'
import { offeredAt } from '../passkeys/relying-party.ts'
import type { Visit, Workspace } from '../workspace.ts'
import { newPasswordField } from './new-password.ts'
import { sessionList } from './sessions.ts'

export const PASSWORD = `${ACCOUNT}/password`
export const DELETE_ACCOUNT = `${ACCOUNT}/delete`
export const CHANGED = `${ACCOUNT}?changed`

const passwordForm = (email: string, typed: Typed): Html => html`<form method="post"
action="${PASSWORD}" class="stack">
<h2>Password</h2>
<p>Another one ends every session but this, and a link that would set it. Passkeys stay.</p>
<input type="email" name="email" value="${email}" autocomplete="username" hidden>
${input(
  {
    name: 'current',
    label: 'Present password',
    type: 'password',
    autocomplete: 'current-password',
    secret: true,
  },
  typed,
)}
${newPasswordField(typed)}
<button>Change the password</button>
</form>`

const changed = note(
  'good',
  html`<p>The password is changed. You are signed out everywhere else. Passkeys still open the account: remove those that you do not know.</p>`,
)

const added = note(
  'good',
  html`<p>The passkey is added. Sign in with it from now on, or with the password.</p>`,
)

const newsOf = (query: {
  readonly changed?: string | undefined
  readonly added?: string | undefined
}): Html => {
  if (query.changed === '') return changed
  return query.added === '' ? added : nothing
}

/** The page, also shown again by its forms when they refuse. */
export async function showAccount(
  { call, session }: Visit,
  workspace: Workspace,
  typed: Typed,
  news: Html = nothing,
): Promise<Answer> {
  const { secure, sessions, clock } = workspace
  const now = clock()
  const all = await sessions.listSessions(session.accountId, now)
  const passkeys = await sessions.listPasskeys(session.accountId)
  return showPage(call, secure, {
    title: 'Account',
    status: typed.refusal?.status ?? 200,
    session,
    place: 'account',
    body: html`<h1>Account</h1>
<p class="lead"><bdi>${session.email}</bdi></p>
${news}${refusalNote(typed)}
${sessionList(all, session, now)}
${passkeyList(passkeys, offeredAt(call, workspace), now)}
<div class="narrow apart">${passwordForm(session.email, typed)}
<section aria-labelledby="end"><h2 id="end">Delete the account</h2>
<p>Its agents go on without it, or are erased: you are asked.</p>
<p class="actions"><a class="button danger" href="${DELETE_ACCOUNT}">Delete the account</a></p></section></div>`,
  })
}

export const accountPage = endpoint({
  operationId: 'consoleAccount',
  method: 'GET',
  path: ACCOUNT,
  guards: forSignedIn,
  query: z.object({ changed: z.string().optional(), added: z.string().optional() }),
  handle: (visit, workspace: Workspace) =>
    showAccount(visit, workspace, untouched, newsOf(visit.query)),
})
