/** The tokens that everything hangs on, each to be replaced where others may know it. */
import { html } from 'hono/html'
import { isOwnKey, newKey } from '../../../home/birth-key.ts'
import { checkbox, hidden, type Typed } from '../../layout/fields.ts'
import type { Html } from '../../layout/page.ts'
import { fold } from '../../layout/parts.ts'
import { agentPath } from '../../layout/paths.ts'
import { proof } from '../account/second-look.ts'
import { turnField } from '../once.ts'
import type { AgentVisit, Workspace } from '../workspace.ts'

export type Risky = 'agent' | 'operator'

const rotateForm = (agentId: string, asked: Html, typed: Typed): Html => html`<form method="post"
action="${agentPath(agentId)}/key" class="stack">
${checkbox({ name: 'understood', label: 'The present agent token stops working at once, wherever it is used, and every named key ends.' }, typed)}
${asked}
<button class="danger">Rotate the agent token</button>
</form>`

/** Sent twice, the form replaces the token once: its key is what the token is made of. */
const operatorForm = (
  agentId: string,
  key: string,
  asked: Html,
  typed: Typed,
): Html => html`<form method="post" action="${agentPath(agentId)}/operator-key" class="stack">
${hidden('key', key)}
${checkbox({ name: 'assent', label: 'The present operator token stops working at once, wherever it is used, and the agent leaves every account but this one.' }, typed)}
${asked}
<button class="danger">Replace the operator token</button>
</form>`

const summary = (name: string, meaning: string): Html =>
  html`<span><strong>${name}</strong> <span class="dim">${meaning}</span></span>`

/** Folded, but for the one that was refused. */
export async function risks(
  visit: AgentVisit,
  workspace: Workspace,
  typed: Typed,
  open: string | undefined,
): Promise<Html> {
  const { agentId } = visit.identity
  const { key = '' } = typed.values
  const fresh = isOwnKey(key) ? key : newKey(workspace.random)
  const turn = await turnField(visit, workspace)
  const asked = await proof('password', visit, workspace, typed)
  const askedOperator = await proof('operatorPassword', visit, workspace, typed)
  return html`<section class="risks" aria-labelledby="known">
<h2 id="known">If others may know a token</h2>
${fold({
  summary: summary('Rotate the agent token', 'The program of the agent gets a new one.'),
  open: open === 'agent',
  body: rotateForm(agentId, html`${turn}${asked}`, typed),
})}
${fold({
  summary: summary('Replace the operator token', 'You get a new one; the agent’s own keys stay.'),
  open: open === 'operator',
  body: operatorForm(agentId, fresh, askedOperator, typed),
})}
</section>`
}
