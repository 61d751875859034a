/** POST /console/agents/<id>/key: a new agent token, shown once. */

import { html } from 'hono/html'
import { problem } from '../../../errors.ts'
import { rotateAgentKey } from '../../../home/keys/rotate.ts'
import type { Answer } from '../../../http/call.ts'
import { endpoint } from '../../../pipeline/endpoint.ts'
import type { Sent } from '../../../pipeline/guards/form.ts'
import { WRITE_ERRORS } from '../../../pipeline/problem.ts'
import { agentPath } from '../../layout/paths.ts'
import { secondLook } from '../account/second-look.ts'
import { costs, formForOwner, ofAgent, shownAgain } from '../guards.ts'
import { takeTurn } from '../once.ts'
import type { AgentVisit, Workspace } from '../workspace.ts'
import { showKeys } from './keys.ts'
import { showOnce } from './shown-once.ts'

const notUnderstood = () =>
  problem('invalid_body', {
    errors: [{ pointer: '/understood', message: 'must be ticked: it is what a rotation does' }],
  })

async function showKey(visit: AgentVisit & Sent, workspace: Workspace): Promise<Answer> {
  await takeTurn(visit, workspace)
  const value = await rotateAgentKey(workspace, visit.identity)
  const meaning = 'Put it where the agent’s program reads its token. The old one is void already.'
  const title = 'New agent token'
  const credential = { name: 'agent-token', label: 'Agent token', value, meaning }
  return showOnce(visit, workspace, { title, heading: html`${title}`, credential })
}

export const keyForm = endpoint({
  operationId: 'consoleRotate',
  method: 'POST',
  path: `${agentPath(':agent')}/key`,
  params: ofAgent,
  guards: [...formForOwner, shownAgain(showKeys), ...costs('controls'), secondLook('password')],
  errors: [...WRITE_ERRORS, 'invalid_body', 'invalid_token', 'form_sent_before'],
  async handle(visit, workspace: Workspace) {
    if (visit.sent.understood !== 'yes') throw notUnderstood()
    return showKey(visit, workspace)
  },
})
