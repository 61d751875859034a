/** POST /console/agents/<id>/operator-key: a new operator token, shown to whoever sends the form. */
import { html } from 'hono/html'
import { problem } from '../../../errors.ts'
import { isOwnKey, newKey } from '../../../home/birth-key.ts'
import { replaceOperatorToken } from '../../../home/keys/operator.ts'
import { endpoint } from '../../../pipeline/endpoint.ts'
import { WRITE_ERRORS } from '../../../pipeline/problem.ts'
import { agentPath } from '../../layout/paths.ts'
import { secondLook } from '../account/second-look.ts'
import { credentials } from '../agent/credentials.ts'
import { findAgent, showAgentPage, tabPath } from '../agent-page.ts'
import { costs, formForOwner, ofAgent, shownAgain } from '../guards.ts'
import type { Workspace } from '../workspace.ts'
import { showKeys } from './keys.ts'

const notUnderstood = () =>
  problem('invalid_body', {
    errors: [{ pointer: '/assent', message: 'must be ticked: it is what a replacement does' }],
  })

const MEANING =
  'Keep it yourself, apart from the agent. It also pauses the agent and rotates its key. The old one is void already.'

export const operatorKeyForm = endpoint({
  operationId: 'consoleOperatorKey',
  method: 'POST',
  path: `${agentPath(':agent')}/operator-key`,
  params: ofAgent,
  guards: [
    ...formForOwner,
    shownAgain(showKeys),
    ...costs('controls'),
    secondLook('operatorPassword'),
  ],
  errors: [...WRITE_ERRORS, 'invalid_body', 'invalid_token'],
  async handle(visit, workspace: Workspace) {
    const { identity, sent } = visit
    const { assent, key = '' } = sent
    if (assent !== 'yes') throw notUnderstood()
    const own = isOwnKey(key) ? key : newKey(workspace.random)
    // Asked first: by the token that is void in a moment.
    const agent = await findAgent(workspace, identity)
    const value = await replaceOperatorToken(workspace, identity, own)
    const credential = { name: 'operator-token', label: 'Operator token', value, meaning: MEANING }
    return showAgentPage(visit, workspace, {
      agent,
      tab: 'keys',
      title: 'New operator token',
      scripts: ['copy'],
      body: html`<div class="narrow">
<h1>New operator token</h1>
${credentials([credential])}
<p><a class="button" href="${tabPath(identity.agentId, 'keys')}">Done</a></p>
</div>`,
    })
  },
})
