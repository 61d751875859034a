/** /console/recover: sets a new password with a single-use link from the host. */
import { html } from 'hono/html'
import { z } from 'zod'
import { problem } from '../../../errors.ts'
import { anotherPassword } from '../../../home/account.ts'
import { type Answer, redirect } from '../../../http/call.ts'
import { endpoint } from '../../../pipeline/endpoint.ts'
import type { Facts } from '../../../pipeline/guard.ts'
import { again, type Sent } from '../../../pipeline/guards/form.ts'
import { hashLink, RECOVER } from '../../../pipeline/links.ts'
import { WRITE_ERRORS } from '../../../pipeline/problem.ts'
import { beginSession } from '../../../pipeline/sessions.ts'
import type { Recovered } from '../../../store/port/sessions.ts'
import { hidden, input, refusalNote, type Typed } from '../../layout/fields.ts'
import { showPage } from '../../layout/page.ts'
import { forAnyone, formForAnyone, withInput } from '../guards.ts'
import type { Workspace } from '../workspace.ts'
import { newPasswordField, newPasswordIn } from './account.ts'

const show = ({ call }: Facts, { secure }: Workspace, typed: Typed): Promise<Answer> =>
  showPage(call, secure, {
    title: 'Set a new password',
    status: typed.refusal?.status ?? 200,
    body: html`<div class="narrow">
<h1>Set a new password</h1>
<p class="lead">This link sets it once. Wherever the account is signed in, it is signed out, and its passkeys are removed.</p>
${refusalNote(typed)}
<form method="post" action="${RECOVER}" class="stack">
${hidden('link', typed.values.link ?? '')}
${input({ name: 'email', label: 'E-mail', type: 'email', autocomplete: 'username', required: false }, typed)}
${newPasswordField(typed)}
<button>Set the password and sign in</button>
</form>
</div>`,
  })

/** Throws `link_void`. */
async function accountOf({ sessions, clock }: Workspace, link: string): Promise<Recovered> {
  const account = await sessions.findRecovery(hashLink(link), clock())
  if (!account) throw problem('link_void')
  return account
}

/** Viewing does not use up the link, because mail clients and previews open it too. */
export const recoverPage = endpoint({
  operationId: 'consoleRecoverPage',
  method: 'GET',
  path: RECOVER,
  guards: forAnyone,
  query: z.object({ link: z.string().default('') }),
  errors: ['link_void', 'storage_unavailable'],
  async handle({ call, query: { link } }, workspace: Workspace) {
    const { email } = await accountOf(workspace, link)
    return show({ call }, workspace, { values: { link, email } })
  },
})

async function recover({ call, sent }: Facts & Sent, workspace: Workspace): Promise<Answer> {
  const { link = '' } = sent
  const { email } = await accountOf(workspace, link)
  const password = newPasswordIn(sent)
  const hash = await anotherPassword(call, workspace, { email, password })
  // If the link is used twice at once, only one succeeds.
  const account = await workspace.sessions.setPassword(hashLink(link), hash, workspace.clock())
  if (!account) throw problem('link_void')
  await beginSession(call, workspace, account)
  return redirect(call, '/console')
}

export const recoverForm = endpoint({
  operationId: 'consoleRecover',
  method: 'POST',
  path: RECOVER,
  guards: [...formForAnyone, again(withInput(show))],
  errors: [...WRITE_ERRORS, 'link_void', 'invalid_body', 'passwords_busy'],
  handle: recover,
})
