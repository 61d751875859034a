/** POST /console/agents/<id>/key: a new agent token, shown once. */

import { html } from 'hono/html'
import { problem } from '../../../errors.ts'
import { rotateAgentKey } from '../../../home/keys.ts'
import type { Answer } from '../../../http/call.ts'
import { orAgain } from '../../layout/fields.ts'
import { showPage } from '../../layout/page.ts'
import { type AgentVisit, agentForm } from '../route.ts'
import { credentials } from './credentials.ts'
import { showAgent } from './overview.ts'
import { admitControl } from './status.ts'

const notUnderstood = () =>
  problem('invalid_body', {
    errors: [{ pointer: '/understood', message: 'must be ticked: it is what a rotation does' }],
  })

async function showKey({ call, console, session, agent }: AgentVisit): Promise<Answer> {
  const value = await rotateAgentKey(console.home, agent)
  const meaning = 'Put it where the agent’s program reads its token. The old one is void already.'
  return showPage(call, console.secure, {
    title: 'The new agent key',
    session,
    scripts: ['copy'],
    body: html`<div class="narrow">
<h1>The new agent key</h1>
${credentials([{ name: 'agent-token', label: 'Agent token', value, meaning }])}
<p><a class="button" href="/console/agents/${agent.agentId}">I have kept it</a></p>
</div>`,
  })
}

export const keyForm = agentForm('consoleRotate', '/key', (sent, visit) =>
  orAgain(
    visit.call,
    async () => {
      if (sent.understood !== 'yes') throw notUnderstood()
      await admitControl(visit)
      return showKey(visit)
    },
    (refused) => showAgent(visit, { values: sent, refusal: refused }),
  ),
)
