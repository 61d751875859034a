/** /console/account/delete: the account is gone; its agents stay without one, or are erased first. */
import { html } from 'hono/html'
import { problem } from '../../../errors.ts'
import { eraseWhole } from '../../../home/erase-agent.ts'
import { type Answer, redirect } from '../../../http/call.ts'
import { endpoint } from '../../../pipeline/endpoint.ts'
import type { Sent } from '../../../pipeline/guards/form.ts'
import { WRITE_ERRORS } from '../../../pipeline/problem.ts'
import { endSession } from '../../../pipeline/sessions.ts'
import { input, refusalNote, select, type Typed, untouched } from '../../layout/fields.ts'
import { showPage } from '../../layout/page.ts'
import { ACCOUNT, SIGN_IN } from '../../layout/paths.ts'
import { formForSignedIn, forSignedIn, shownAgain } from '../guards.ts'
import type { Visit, Workspace } from '../workspace.ts'
import { DELETE_ACCOUNT } from './account.ts'
import { proof, secondLook } from './second-look.ts'

const choices = [
  { value: 'leave', label: 'Let them go on, without an account' },
  { value: 'erase', label: 'Erase them all, for good' },
] as const

async function show(visit: Visit, workspace: Workspace, typed: Typed): Promise<Answer> {
  const asked = await proof('password', visit, workspace, typed)
  return showPage(visit.call, workspace.secure, {
    title: 'Delete the account',
    status: typed.refusal?.status ?? 200,
    session: visit.session,
    place: 'account',
    trail: [{ name: 'Account', path: ACCOUNT }],
    scripts: ['passkey'],
    body: html`<div class="narrow"><h1>Delete the account</h1>
${refusalNote(typed)}
<div class="note warn"><p><strong>Nothing brings it back.</strong> You are signed out everywhere. An agent that goes on is reached by its operator token alone: make sure that you have it, or <a href="/console">export</a> what should be kept.</p></div>
<form method="post" action="${DELETE_ACCOUNT}" class="stack">
${select({ name: 'agents', label: 'Its agents', choices }, typed)}
${input({ name: 'typed', label: 'Your e-mail address, typed once more', type: 'email' }, typed)}
${asked}
<p class="actions"><button class="danger">Delete the account for good</button>
<a class="button quiet" href="${ACCOUNT}">Cancel</a></p>
</form></div>`,
  })
}

export const deleteAccountPage = endpoint({
  operationId: 'consoleDeleteAccountPage',
  method: 'GET',
  path: DELETE_ACCOUNT,
  guards: forSignedIn,
  handle: (visit, workspace: Workspace) => show(visit, workspace, untouched),
})

const fault = (field: string, message: string) =>
  problem('invalid_body', { errors: [{ pointer: `/${field}`, message }] })

const PAGE = 50

/** The first ones again and again: those that were erased are listed no more. */
async function eraseAgents(visit: Visit, workspace: Workspace): Promise<void> {
  const { accountId, email } = visit.session
  const { sessions } = workspace
  for (;;) {
    const agents = await sessions.listAgents(accountId, { limit: PAGE }, 0)
    if (agents.length === 0) return
    for (const { profile } of agents) {
      const owner = await sessions.identifyOwner(accountId, profile.agentId)
      const asked = owner && ({ ...owner.identity, via: 'console', account: email } as const)
      if (asked) await eraseWhole(workspace, asked, asked.agentId)
    }
  }
}

async function end(visit: Visit & Sent, workspace: Workspace): Promise<Answer> {
  const { call, session, sent } = visit
  const { agents, typed = '' } = sent
  if (agents !== 'leave' && agents !== 'erase') throw fault('agents', 'must be chosen')
  if (typed.trim().toLowerCase() !== session.email) throw fault('typed', 'must be your address')
  if (agents === 'erase') await eraseAgents(visit, workspace)
  await workspace.sessions.deleteAccount(session.accountId)
  await endSession(call, workspace, session)
  return redirect(call, SIGN_IN)
}

export const deleteAccountForm = endpoint({
  operationId: 'consoleDeleteAccount',
  method: 'POST',
  path: DELETE_ACCOUNT,
  guards: [...formForSignedIn, shownAgain(show), secondLook('password')],
  errors: [...WRITE_ERRORS, 'invalid_body', 'invalid_token'],
  handle: (visit, workspace: Workspace) => end(visit, workspace),
})
