/** /console/agents/<id>/leave: the agent stays, without an account. */
import { html } from 'hono/html'
import { problem } from '../../../errors.ts'
import { type Answer, redirect } from '../../../http/call.ts'
import { endpoint } from '../../../pipeline/endpoint.ts'
import { WRITE_ERRORS } from '../../../pipeline/problem.ts'
import { checkbox, refusalNote, type Typed, untouched } from '../../layout/fields.ts'
import { AGENTS, agentPath } from '../../layout/paths.ts'
import { proof, secondLook } from '../account/second-look.ts'
import { findAgent, showAgentPage, tabPath } from '../agent-page.ts'
import { costs, formForOwner, forOwner, ofAgent, shownAgain } from '../guards.ts'
import type { AgentVisit, Workspace } from '../workspace.ts'

const path = `${agentPath(':agent')}/leave`

async function show(visit: AgentVisit, workspace: Workspace, typed: Typed): Promise<Answer> {
  const agent = await findAgent(workspace, visit.identity)
  const { agentId, name } = agent.profile
  const asked = await proof('password', visit, workspace, typed)
  return showAgentPage(visit, workspace, {
    agent,
    tab: 'settings',
    scripts: ['passkey'],
    title: 'Leave',
    status: typed.refusal?.status ?? 200,
    body: html`<div class="narrow"><h1>Leave <bdi>${name}</bdi></h1>
${refusalNote(typed)}
<div class="note warn"><p><strong>It is no longer among your agents.</strong> It goes on as it is, with all that it remembers. Whoever has its operator token reaches it, and may attach it to an account of theirs.</p></div>
<form method="post" action="${agentPath(agentId)}/leave" class="stack">
${checkbox({ name: 'understood', label: 'I have its operator token, or do not want to reach it again.' }, typed)}
${asked}
<p class="actions"><button class="danger">Leave the agent</button>
<a class="button quiet" href="${tabPath(agentId, 'settings')}">Cancel</a></p>
</form></div>`,
  })
}

export const leavePage = endpoint({
  operationId: 'consoleLeavePage',
  method: 'GET',
  path,
  params: ofAgent,
  guards: [...forOwner, ...costs('reads')],
  errors: ['invalid_token'],
  handle: (visit, workspace: Workspace) => show(visit, workspace, untouched),
})

const notUnderstood = () =>
  problem('invalid_body', {
    errors: [{ pointer: '/understood', message: 'must be ticked: you reach it no other way' }],
  })

export const leaveForm = endpoint({
  operationId: 'consoleLeave',
  method: 'POST',
  path,
  params: ofAgent,
  guards: [...formForOwner, shownAgain(show), ...costs('controls'), secondLook('password')],
  errors: [...WRITE_ERRORS, 'invalid_body', 'invalid_token'],
  async handle({ call, session, identity, sent }, { sessions }: Workspace) {
    if (sent.understood !== 'yes') throw notUnderstood()
    // One that left in the meantime has left.
    await sessions.leaveAgent(session.accountId, identity.agentId)
    return redirect(call, AGENTS)
  },
})
