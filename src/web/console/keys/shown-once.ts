/** The answer to a form that made a token: shown this once, and what is shown after a reload. */
import { html } from 'hono/html'
import type { Answer } from '../../../http/call.ts'
import type { Html } from '../../layout/page.ts'
import { type Credential, credentials } from '../agent/credentials.ts'
import { showAgentPage, tabPath } from '../agent-page.ts'
import type { AgentVisit, Workspace } from '../workspace.ts'

interface Shown {
  readonly title: string
  readonly heading: Html
  readonly credential: Credential
}

export function showOnce(
  visit: AgentVisit,
  workspace: Workspace,
  { title, heading, credential }: Shown,
): Promise<Answer> {
  const keys = tabPath(visit.identity.agentId, 'keys')
  return showAgentPage(visit, workspace, {
    tab: 'keys',
    title,
    scripts: ['copy', 'shown'],
    from: keys,
    body: html`<div class="narrow">
<h1>${heading}</h1>
${credentials([credential])}
<p><a class="button" href="${keys}" data-shown-once>Done</a></p>
</div>`,
  })
}
