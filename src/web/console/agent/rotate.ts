/** POST /console/agents/<id>/key: a new agent token, shown once. */

import { html } from 'hono/html'
import { problem } from '../../../errors.ts'
import { rotateAgentKey } from '../../../home/keys/rotate.ts'
import type { Answer } from '../../../http/call.ts'
import { endpoint } from '../../../pipeline/endpoint.ts'
import { again, type Sent } from '../../../pipeline/guards/form.ts'
import { WRITE_ERRORS } from '../../../pipeline/problem.ts'
import { agentPath } from '../../layout/paths.ts'
import { showAgentPage } from '../agent-page.ts'
import { costs, formForOwner, ofAgent } from '../guards.ts'
import type { AgentVisit, Workspace } from '../workspace.ts'
import { credentials } from './credentials.ts'
import { keysPath, showKeys } from './keys.ts'

const notUnderstood = () =>
  problem('invalid_body', {
    errors: [{ pointer: '/understood', message: 'must be ticked: it is what a rotation does' }],
  })

async function showKey(visit: AgentVisit, workspace: Workspace): Promise<Answer> {
  const { identity } = visit
  const value = await rotateAgentKey(workspace, identity)
  const meaning = 'Put it where the agent’s program reads its token. The old one is void already.'
  return showAgentPage(visit, workspace, {
    tab: 'keys',
    title: 'New agent token',
    scripts: ['copy'],
    body: html`<div class="narrow">
<h1>New agent token</h1>
${credentials([{ name: 'agent-token', label: 'Agent token', value, meaning }])}
<p><a class="button" href="${keysPath(identity.agentId)}">Done</a></p>
</div>`,
  })
}

export const keyForm = endpoint({
  operationId: 'consoleRotate',
  method: 'POST',
  path: `${agentPath(':agent')}/key`,
  params: ofAgent,
  guards: [
    ...formForOwner,
    again((visit: AgentVisit & Sent, workspace: Workspace, refusal) =>
      showKeys(visit, workspace, { values: visit.sent, refusal }),
    ),
    ...costs('controls'),
  ],
  errors: [...WRITE_ERRORS, 'invalid_body', 'invalid_token'],
  async handle(visit, workspace: Workspace) {
    if (visit.sent.understood !== 'yes') throw notUnderstood()
    return showKey(visit, workspace)
  },
})
