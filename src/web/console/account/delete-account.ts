/** /console/account/delete: deletes the account; its agents stay without one, or are erased first. */
import { html } from 'hono/html'
import { eraseWhole } from '../../../home/profile.ts'
import { endSession } from '../../../pipeline/sessions.ts'
import { fieldProblem, input, select } from '../../layout/fields.ts'
import { ACCOUNT, SIGN_IN } from '../../layout/paths.ts'
import { accountTwoStep } from '../two-step.ts'
import type { Visit, Workspace } from '../workspace.ts'
import { DELETE_ACCOUNT } from './account.ts'

const choices = [
  { value: 'leave', label: 'Keep them, without an account' },
  { value: 'erase', label: 'Erase them all, for good' },
] as const

const PAGE = 50

/** Always the first page, because erased agents are no longer listed. */
async function eraseAgents({ session }: Visit, workspace: Workspace): Promise<void> {
  const { accountId, email } = session
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

export const deleteAccount = accountTwoStep({
  operationId: 'consoleDeleteAccount',
  path: DELETE_ACCOUNT,
  errors: ['invalid_token'],
  view: (_visit, _workspace, typed) => ({
    title: 'Delete the account',
    place: 'account',
    trail: [{ name: 'Account', path: ACCOUNT }],
    heading: html`Delete the account`,
    about: html`<div class="note warn"><p><strong>This cannot be undone.</strong> You are signed out everywhere. An agent that you keep is reached by its operator token alone: make sure that you have it, or <a href="/console">export</a> what you want to keep.</p></div>`,
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
      throw fieldProblem('typed', 'must be your address')
    if (agents === 'erase') await eraseAgents(visit, workspace)
    await workspace.sessions.deleteAccount(session.accountId)
    await endSession(call, workspace, session)
    return SIGN_IN
  },
})
