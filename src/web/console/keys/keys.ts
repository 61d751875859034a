/** /console/agents/<id>/keys: the agent's named keys, and what becomes of tokens that others know. */
import { html } from 'hono/html'
import { findKeys } from '../../../home/keys/named.ts'
import type { Answer } from '../../../http/call.ts'
import { endpoint } from '../../../pipeline/endpoint.ts'
import type { NamedKey } from '../../../store/port/keys.ts'
import { hidden, input, refusalNote, select, type Typed, untouched } from '../../layout/fields.ts'
import type { Html } from '../../layout/page.ts'
import { fold } from '../../layout/parts.ts'
import { when } from '../../layout/words.ts'
import { showAgentPage, tabPath } from '../agent-page.ts'
import { costs, forOwner, ofAgent } from '../guards.ts'
import { turnField } from '../once.ts'
import type { AgentVisit, Workspace } from '../workspace.ts'
import { type Risky, risks } from './risks.ts'

const rights = { read: 'reads', write: 'reads and writes' } as const

const row = (agentId: string, key: NamedKey, now: number): Html => html`<tr>
<th scope="row" class="words" dir="auto">${key.name}</th>
<td>${rights[key.access]}</td>
<td class="words">${key.prefix === '' ? 'every memory' : html`only <code>${key.prefix}</code>…`}</td>
<td>${key.expiresAt === undefined ? 'never ends' : html`ends ${when(key.expiresAt, now)}`}</td>
<td>${key.lastUsedAt === undefined ? 'not used yet' : html`used ${when(key.lastUsedAt, now)}`}</td>
<td><form method="post" action="${tabPath(agentId, 'keys')}/end">${hidden('id', key.id)}
<button class="plain danger">Revoke<span class="away">: ${key.name}</span></button></form></td>
</tr>`

const table = (agentId: string, keys: readonly NamedKey[], now: number): Html =>
  keys.length === 0
    ? html`<p class="empty">No named key yet.</p>`
    : html`<table class="list log keys">
<thead><tr><th scope="col">Name</th><th scope="col">May</th><th scope="col">Reaches</th><th scope="col">Ends</th><th scope="col">Last use</th><th scope="col"><span class="away">What can be done</span></th></tr></thead>
<tbody>${keys.map((key) => row(agentId, key, now))}</tbody>
</table>`

const choices = [
  { value: 'read', label: 'Read' },
  { value: 'write', label: 'Read and write' },
] as const

const newKeyForm = (agentId: string, turn: Html, typed: Typed): Html => html`<form method="post"
action="${tabPath(agentId, 'keys')}" class="stack">
${turn}
${input({ name: 'name', label: 'Name', hint: 'Whose it is, as it appears under Activity.' }, typed)}
${select({ name: 'access', label: 'It may', choices }, typed)}
${input({ name: 'prefix', label: 'Only memories whose keys begin with', hint: 'Left empty: all of them.', required: false }, typed)}
${input({ name: 'expiresAt', label: 'Ends on', type: 'date', hint: 'When this day begins, in UTC. Left empty: never.', required: false }, typed)}
<button>Create key</button>
</form>`

/** Which of the page's forms was refused: each sends a field that no other has. */
const refused = ({ values, refusal }: Typed): 'new' | Risky | undefined => {
  if (!refusal) return undefined
  if (values.name !== undefined) return 'new'
  return values.key === undefined ? 'agent' : 'operator'
}

/** The page, also shown again by its forms when they refuse. */
export async function showKeys(
  visit: AgentVisit,
  workspace: Workspace,
  typed: Typed,
): Promise<Answer> {
  const { identity } = visit
  const { agentId } = identity
  const keys = await findKeys(workspace, identity)
  const turn = await turnField(visit, workspace)
  const open = refused(typed)
  return showAgentPage(visit, workspace, {
    tab: 'keys',
    scripts: ['passkey'],
    title: 'Keys',
    status: typed.refusal?.status ?? 200,
    body: html`<h1>Keys</h1>
${refusalNote(typed)}
<section aria-labelledby="named">
<h2 id="named">Named keys</h2>
<p class="dim">Tokens of the agent that reach less, each to be revoked apart.</p>
${table(agentId, keys, workspace.clock())}
${fold({ summary: html`New key`, open: open === 'new', body: newKeyForm(agentId, turn, typed) })}
</section>
${await risks(visit, workspace, typed, open)}`,
  })
}

export const keysPage = endpoint({
  operationId: 'consoleKeys',
  method: 'GET',
  path: tabPath(':agent', 'keys'),
  params: ofAgent,
  guards: [...forOwner, ...costs('controls')],
  errors: ['invalid_token'],
  handle: (visit, workspace: Workspace) => showKeys(visit, workspace, untouched),
})
