/** /console/agents/<id>/keys: the named keys, and the replacement of tokens that others may know. */
import { html } from 'hono/html'
import { z } from 'zod'
import { dropKey, findKeys, keyRequest, makeKey, rotateAgentKey } from '../../../home/keys.ts'
import { replaceOperatorToken } from '../../../home/operator-key.ts'
import { type Answer, redirect } from '../../../http/call.ts'
import type { Fields } from '../../../http/form.ts'
import { validateBody } from '../../../pipeline/validate.ts'
import type { NamedKey } from '../../../store/port/keys.ts'
import { type Credential, credentials } from '../../layout/credential.ts'
import {
  checkbox,
  fieldProblem,
  hidden,
  input,
  refusalNote,
  select,
  type Typed,
  untouched,
} from '../../layout/fields.ts'
import { type Html, nothing } from '../../layout/page.ts'
import { cancel, fold, note, question } from '../../layout/parts.ts'
import { agentPath, connectPath } from '../../layout/paths.ts'
import { plural, when } from '../../layout/words.ts'
import { proof } from '../account/recent-sign-in.ts'
import { type AgentPage, findAgent, showAgentPage, tabPath } from '../agent-page.ts'
import { agentForm, agentPage } from '../endpoints.ts'
import { formKey, takeTurn, turnField } from '../form-once.ts'
import { withInput } from '../guards.ts'
import type { AgentVisit, Workspace } from '../workspace.ts'

const endWith = (keys: readonly NamedKey[]): Html =>
  keys.length > 0
    ? html`<p>These named keys are revoked with it: ${keys.map(({ name }, at) => html`${at > 0 ? ', ' : ''}“<bdi>${name}</bdi>”`)}.</p>`
    : html`<p>There are no named keys to revoke with it.</p>`

const rotateForm = (
  agentId: string,
  keys: readonly NamedKey[],
  asked: Html,
  typed: Typed,
): Html => html`<form method="post" action="${agentPath(agentId)}/key" class="stack">
${endWith(keys)}
${checkbox({ name: 'understood', label: 'The current agent token stops working at once, wherever it is used, and every named key is revoked.' }, typed)}
${asked}
<button class="danger">Rotate the agent token</button>
</form>`

/** Sent twice, the form replaces the token once, because the new token is derived from `key`. */
const operatorForm = (
  agentId: string,
  key: string,
  asked: Html,
  typed: Typed,
): Html => html`<form method="post" action="${agentPath(agentId)}/operator-key" class="stack">
${hidden('key', key)}
${checkbox({ name: 'assent', label: 'The current operator token stops working at once, wherever it is used, and the agent leaves every account but this one.' }, typed)}
${asked}
<button class="danger">Replace the operator token</button>
</form>`

const summary = (name: string, meaning: string): Html =>
  html`<span><strong>${name}</strong> <span class="dim">${meaning}</span></span>`

/** Folded, except for a form that was refused. */
async function risks(
  visit: AgentVisit,
  workspace: Workspace,
  typed: Typed,
  {
    open,
    turn,
    keys,
  }: { readonly open: string | undefined; readonly turn: Html; readonly keys: readonly NamedKey[] },
): Promise<Html> {
  const { agentId } = visit.identity
  const key = formKey(typed.values.key, workspace)
  const asked = await proof('password', visit, workspace, typed)
  const askedOperator = await proof('operatorPassword', visit, workspace, typed)
  return html`<section class="risks" aria-labelledby="known">
<h2 id="known">If a token leaked</h2>
${fold({
  summary: summary(
    'Rotate the agent token',
    'Its program needs the new one. Named keys are revoked.',
  ),
  open: open === 'agent',
  body: rotateForm(agentId, keys, html`${turn}${asked}`, typed),
})}
${fold({
  summary: summary(
    'Replace the operator token',
    'You get a new one; the agent’s own keys stay valid.',
  ),
  open: open === 'operator',
  body: operatorForm(agentId, key, askedOperator, typed),
})}
</section>`
}

export const rights = { read: 'reads', write: 'reads and writes' } as const

/** The program that it was granted to, by what is known of it. */
const byClient = ({ client, createdAt }: NamedKey, now: number): Html =>
  client
    ? html`<div class="dim">authorized ${when(createdAt, now)} via <bdi>${client.redirectHost}</bdi>${
        client.id.startsWith('https://') ? html` (<bdi>${client.id}</bdi>)` : nothing
      }</div>`
    : nothing

const ofSessions = ({ reused }: NamedKey, now: number): Html =>
  reused
    ? html`<div class="dim">several sessions used the same token: ${plural(reused.times, 'time')}, last ${when(reused.lastAt, now)}. Revoke the key unless all of them are yours.</div>`
    : nothing

/** What stops working, before it does. */
function revoke(agentId: string, { id, name, lastUsedAt }: NamedKey, now: number): Html {
  const dialog = `revoke-${id}`
  const used =
    lastUsedAt === undefined
      ? 'It has not been used yet.'
      : html`It was last used ${when(lastUsedAt, now)}.`
  return html`${question({
    id: dialog,
    button: html`Revoke<span class="away">: ${name}</span>`,
    title: html`Revoke “<bdi>${name}</bdi>”?`,
    body: html`<p>Programs that use it are refused from now on. ${used} It cannot be made valid again; other keys, the agent token and all memories are unaffected.</p>
<form method="post" action="${tabPath(agentId, 'keys')}/end" class="actions">${hidden('id', id)}
<button class="danger">Revoke it</button>${cancel(dialog)}</form>`,
  })}`
}

export const isExpired = ({ expiresAt = Infinity }: NamedKey, now: number): boolean =>
  expiresAt <= now

function expiry(key: NamedKey, now: number): Html {
  if (key.expiresAt === undefined) return html`never expires`
  return html`${isExpired(key, now) ? 'expired' : 'expires'} ${when(key.expiresAt, now)}`
}

const row = (agentId: string, key: NamedKey, now: number): Html => html`<tr>
<th scope="row" class="words" dir="auto">${key.name}${byClient(key, now)}${ofSessions(key, now)}</th>
<td>${rights[key.access]}</td>
<td class="words">${key.prefix === '' ? 'every memory' : html`only <code>${key.prefix}</code>…`}</td>
<td>${expiry(key, now)}</td>
<td>${key.lastUsedAt === undefined ? 'not used yet' : html`used ${when(key.lastUsedAt, now)}`}</td>
<td>${revoke(agentId, key, now)}</td>
</tr>`

const table = (agentId: string, keys: readonly NamedKey[], now: number): Html =>
  keys.length === 0
    ? html`<p class="empty">No named key yet.</p>`
    : html`<table class="list log keys">
<thead><tr><th scope="col">Name</th><th scope="col">Access</th><th scope="col">Memories</th><th scope="col">Expires</th><th scope="col">Last use</th><th scope="col"><span class="away">What can be done</span></th></tr></thead>
<tbody>${keys.map((key) => row(agentId, key, now))}</tbody>
</table>`

const choices = [
  { value: 'read', label: 'Read' },
  { value: 'write', label: 'Read and write' },
] as const

/** What a key may do; the same wherever one is made. */
export const keyFields = (
  typed: Typed,
): Html => html`${input({ name: 'name', label: 'Name', hint: 'Whose it is, as it appears under Activity.' }, typed)}
${select({ name: 'access', label: 'It may', choices }, typed)}
${input({ name: 'prefix', label: 'Only memories whose keys begin with', hint: 'Left empty: all of them.', required: false }, typed)}
${input({ name: 'expiresAt', label: 'Expires on', type: 'date', hint: 'Expires at 00:00 UTC that day. Left empty: never.', required: false }, typed)}`

const newKeyFields = (
  agentId: string,
  shown: { readonly turn: Html; readonly asked: Html },
  typed: Typed,
): Html => html`<form method="post" action="${tabPath(agentId, 'keys')}" class="stack">
${shown.turn}
${keyFields(typed)}
${shown.asked}
<button>Create key</button>
</form>`

/** Each form of the page has a field of its own for the password. */
const NEW_KEY_PASSWORD = 'keyPassword'

/** The form that was refused: each sends a field that no other has. */
const refused = ({ values, refusal }: Typed): 'new' | 'agent' | 'operator' | undefined => {
  if (!refusal) return undefined
  if (values.name !== undefined) return 'new'
  return values.key === undefined ? 'agent' : 'operator'
}

/** The page, also with the errors of its forms. */
async function showKeys(
  visit: AgentVisit,
  workspace: Workspace,
  typed: Typed,
  ended?: string,
): Promise<Answer> {
  const { identity } = visit
  const { agentId } = identity
  const keys = await findKeys(workspace, identity)
  const turn = await turnField(visit, workspace)
  const asked = await proof(NEW_KEY_PASSWORD, visit, workspace, typed)
  const open = refused(typed)
  return showAgentPage(visit, workspace, {
    tab: 'keys',
    scripts: ['passkey'],
    title: 'Keys',
    status: typed.refusal?.status ?? 200,
    body: html`<h1 class="away">Keys</h1>
${refusalNote(typed)}${ended ? note('good', html`<p>“<bdi>${ended}</bdi>” is revoked: programs that use it are refused.</p>`) : nothing}
<section aria-labelledby="named">
<h2 id="named">Named keys</h2>
<p class="dim">One key per program, revoked separately.</p>
${table(agentId, keys, workspace.clock())}
${fold({ summary: html`New key`, open: open === 'new', body: newKeyFields(agentId, { turn, asked }, typed) })}
</section>
${await risks(visit, workspace, typed, { open, turn, keys })}`,
  })
}

export const keysPage = agentPage({
  operationId: 'consoleKeys',
  path: tabPath(':agent', 'keys'),
  query: z.object({ ended: z.string().optional() }),
  handle: (visit, workspace) => showKeys(visit, workspace, untouched, visit.query.ended),
})

interface Shown extends Pick<AgentPage, 'title' | 'agent'> {
  readonly heading?: Html
  readonly credential: Credential
  /** Where the token is put to use; its form cannot be sent again, so a reload goes to the list. */
  readonly connect?: string
}

function showNew(
  visit: AgentVisit,
  workspace: Workspace,
  { title, heading = html`${title}`, credential, connect, ...shown }: Shown,
): Promise<Answer> {
  const keys = tabPath(visit.identity.agentId, 'keys')
  const actions = connect
    ? html`<a class="button" href="${connect}">Connect a program</a> <a class="button quiet" href="${keys}" data-shown-once>Done</a>`
    : html`<a class="button" href="${keys}">Done</a>`
  return showAgentPage(visit, workspace, {
    ...shown,
    tab: 'keys',
    title,
    scripts: connect ? ['copy', 'shown'] : ['copy'],
    ...(connect && { from: keys }),
    body: html`<div class="narrow">
<h1>${heading}</h1>
${credentials([credential])}
<p class="actions">${actions}</p>
</div>`,
  })
}

/** Empty fields are omitted. */
export const keyRequestOf = ({ name, access, prefix, expiresAt }: Fields) =>
  validateBody(keyRequest, {
    name: name?.trim(),
    access,
    ...(prefix && { prefix }),
    ...(expiresAt && { expiresAt: `${expiresAt}T00:00:00Z` }),
  })

const KEY_MEANING =
  'Put it where its program reads the token. It is used like the agent’s own token.'

export const newKeyForm = agentForm({
  operationId: 'consoleNewKey',
  path: tabPath(':agent', 'keys'),
  budget: 'controls',
  refuse: withInput(showKeys),
  confirm: NEW_KEY_PASSWORD,
  errors: ['key_quota_reached', 'form_sent_before'],
  async handle(visit, workspace) {
    const { identity, sent } = visit
    const request = keyRequestOf(sent)
    await takeTurn(visit, workspace)
    const { key, token } = await makeKey(workspace, identity, request)
    const credential = { name: 'key-token', label: 'Token', value: token, meaning: KEY_MEANING }
    const heading = html`The new key “<bdi>${key.name}</bdi>”`
    const connect = connectPath(identity.agentId, '', { key: key.id })
    return showNew(visit, workspace, { title: 'New key', heading, credential, connect })
  },
})

export const endKeyForm = agentForm({
  operationId: 'consoleEndKey',
  path: `${tabPath(':agent', 'keys')}/end`,
  budget: 'controls',
  errors: ['key_not_found'],
  async handle({ call, identity, sent: { id = '' } }, workspace) {
    const keys = await findKeys(workspace, identity)
    await dropKey(workspace, identity, id)
    const name = keys.find((key) => key.id === id)?.name ?? ''
    return redirect(call, `${tabPath(identity.agentId, 'keys')}?ended=${encodeURIComponent(name)}`)
  },
})

export const keyForm = agentForm({
  operationId: 'consoleRotate',
  path: `${agentPath(':agent')}/key`,
  budget: 'controls',
  refuse: withInput(showKeys),
  confirm: 'password',
  errors: ['form_sent_before'],
  async handle(visit, workspace) {
    if (visit.sent.understood !== 'yes')
      throw fieldProblem('understood', 'must be ticked: this is what a rotation does')
    await takeTurn(visit, workspace)
    const value = await rotateAgentKey(workspace, visit.identity)
    const meaning = 'Put it where the agent’s program reads its token. The old one no longer works.'
    const credential = { name: 'agent-token', label: 'Agent token', value, meaning }
    const connect = connectPath(visit.identity.agentId)
    return showNew(visit, workspace, { title: 'New agent token', credential, connect })
  },
})

const OPERATOR_MEANING =
  'Keep it yourself, apart from the agent. It also pauses the agent and rotates its key. The old one no longer works.'

export const operatorKeyForm = agentForm({
  operationId: 'consoleOperatorKey',
  path: `${agentPath(':agent')}/operator-key`,
  budget: 'controls',
  refuse: withInput(showKeys),
  confirm: 'operatorPassword',
  async handle(visit, workspace) {
    const { identity, sent } = visit
    const { assent, key } = sent
    if (assent !== 'yes')
      throw fieldProblem('assent', 'must be ticked: this is what a replacement does')
    // Read first, because the identity is no longer valid afterwards.
    const agent = await findAgent(workspace, identity)
    const value = await replaceOperatorToken(workspace, identity, formKey(key, workspace))
    const meaning = OPERATOR_MEANING
    const credential = { name: 'operator-token', label: 'Operator token', value, meaning }
    return showNew(visit, workspace, { title: 'New operator token', credential, agent })
  },
})
