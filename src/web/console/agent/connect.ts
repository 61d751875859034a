/**
 * /console/agents/<id>/connect: a panel for each client, which makes a key of its own, shows the
 * text to copy, and turns green when the key is first used.
 */
import { html } from 'hono/html'
import { z } from 'zod'
import { findKeys, makeKey } from '../../../home/keys.ts'
import type { Call } from '../../../http/call.ts'
import { endpoint } from '../../../pipeline/endpoint.ts'
import { again } from '../../../pipeline/guards/form.ts'
import { WRITE_ERRORS } from '../../../pipeline/problem.ts'
import { queryInteger } from '../../../pipeline/schemas.ts'
import type { NamedKey } from '../../../store/port/keys.ts'
import { refusalNote, type Typed, untouched } from '../../layout/fields.ts'
import { type Html, nothing } from '../../layout/page.ts'
import { fold } from '../../layout/parts.ts'
import { agentPath, connectPath, memoryPath } from '../../layout/paths.ts'
import { when } from '../../layout/words.ts'
import { proof, recentSignIn } from '../account/recent-sign-in.ts'
import { type AgentPage, showAgentPage, tabPath } from '../agent-page.ts'
import { agentPage } from '../endpoints.ts'
import { takeTurn, turnField } from '../form-once.ts'
import { costs, formForOwner, forOwner, ofAgent, withInput } from '../guards.ts'
import type { AgentVisit, Workspace } from '../workspace.ts'
import { type Client, clients, type Place, type Step } from './clients.ts'
import { keyFields, keyRequestOf } from './keys.ts'

/** In the place of a key that was shown before, or is still to be made. */
const NO_KEY = 'aha_…'

const urlOf = ({ publicUrl, secure }: Workspace, { host }: Call): string =>
  publicUrl ?? `${secure ? 'https' : 'http'}://${host}`

const clientList = (agentId: string, query = {}): Html => html`<ul class="cards">
${clients.map(({ id, name, how }) => html`<li><a class="card" href="${connectPath(agentId, id, query)}"><span class="grow"><strong>${name}</strong> <br><span class="dim">${how}</span></span></a></li>`)}
</ul>`

/** Where nothing has connected yet. */
export const connectSection = (
  agentId: string,
): Html => html`<section class="connect" aria-labelledby="connect">
<h2 id="connect">Connect a program</h2>
<p>Each gets a key of its own, and you get the text to copy.</p>
${clientList(agentId)}
</section>`

export const connectPage = agentPage({
  operationId: 'consoleConnect',
  path: tabPath(':agent', 'connect'),
  budget: null,
  query: z.object({ key: z.string().optional() }),
  handle(visit, workspace) {
    const { key } = visit.query
    return showAgentPage(visit, workspace, {
      tab: 'connect',
      title: 'Connect',
      body: html`<h1 class="away">Connect</h1>
<p class="dim">Each program gets a key of its own, which is listed under <a href="${tabPath(visit.identity.agentId, 'keys')}">Keys</a> with its last use and can be revoked there.</p>
${clientList(visit.identity.agentId, key === undefined ? {} : { key })}`,
    })
  },
})

/** `id`: of the text, for its button. */
const textToCopy = (id: string, name: string, text: string): Html => html`<div class="request">
<pre class="text" tabindex="0" id="${id}" aria-label="${name}">${text}</pre>
<button type="button" class="quiet" data-copies="${id}" hidden>Copy<span class="away"> ${name}</span></button></div>`

const stepOf = ({ say, name = '', text }: Step, at: number, { length }: readonly Step[]): Html =>
  html`<p>${length > 1 ? html`<strong>${at + 1}.</strong> ` : nothing}${say}</p>
${text === undefined ? nothing : textToCopy(`text-${at + 1}`, name, text)}`

const steps = ({ steps }: Client, place: Place): Html =>
  html`<div class="connect">${steps(place).map(stepOf)}</div>`

/** What a panel waits for: the use of a key, or of any that is made from a moment on. */
async function watchedKey(
  { identity }: AgentVisit,
  workspace: Workspace,
  { key, since = Infinity }: { readonly key?: string | undefined; readonly since?: number },
): Promise<NamedKey | undefined> {
  const keys = await findKeys(workspace, identity)
  return keys.find((each) => each.id === key || each.createdAt >= since)
}

/** A call that only reads makes no event that the page could be told of. */
const LOOK_SECONDS = 3
/** A panel that was left open costs little. */
const LATER_SECONDS = 60
const LATER_AFTER_MS = 600_000

function waiting(key: NamedKey | undefined, forMs: number): Html {
  const words = key
    ? html`Waiting for the first call of “<bdi>${key.name}</bdi>”…`
    : html`Waiting for it to sign in…`
  return html`<p class="waiting" data-looks="${
    forMs < LATER_AFTER_MS ? LOOK_SECONDS : LATER_SECONDS
  }"><span
class="pulse" aria-hidden="true"></span> <span>${words}</span></p>`
}

/** Part of a panel, which is requested again until the first call has arrived. */
const firstCall = (agentId: string, key: NamedKey | undefined, now: number, since = now): Html =>
  html`<div id="first-call" data-live role="status">${
    key?.lastUsedAt === undefined
      ? waiting(key, now - (key?.createdAt ?? since))
      : html`<div class="note good"><p><strong>“<bdi>${key.name}</bdi>” is connected.</strong> It called ${when(key.lastUsedAt, now)}. <a href="${tabPath(agentId, 'activity')}">See what it does</a></p></div>`
  }</div>`

/** `path`: of the panel as it waits, for browsers without scripts. */
const lookAgain = (agentId: string, path: string): Html =>
  html`<a class="button quiet" href="${path}">Look again</a>
<a class="button quiet" href="${connectPath(agentId)}">Connect another</a>`

const NO_ADDRESS = html`<div class="note warn"><p><strong>It cannot reach this service yet.</strong> It connects from its maker’s servers, so the service needs a public address with https, set as <code>PUBLIC_URL</code>.</p></div>`

const client = z.string().transform((id, context): Client => {
  const found = clients.find((each) => each.id === id)
  if (found) return found
  context.addIssue('no such client')
  return z.NEVER
})

const ofPanel = ofAgent.extend({ client })

interface PanelVisit extends AgentVisit {
  readonly params: z.output<typeof ofPanel>
}

type Panel = Pick<AgentPage, 'body'> & Partial<AgentPage>

function showPanel(visit: PanelVisit, workspace: Workspace, { body, ...page }: Panel) {
  const { name, how } = visit.params.client
  return showAgentPage(visit, workspace, {
    tab: 'connect',
    title: name,
    scripts: ['copy'],
    ...page,
    body: html`<div class="narrow"><h1>${name}</h1>
<p class="dim">${how}</p>
${body}</div>`,
  })
}

const PASSWORD = 'password'

/** Before there is a key, also with the errors of the form. */
async function showForm(visit: PanelVisit, workspace: Workspace, { values, refusal }: Typed) {
  const { call, identity, params } = visit
  const { client } = params
  const defaults = { name: client.name, access: 'write', prefix: '', expiresAt: '' }
  const typed = { values: { ...defaults, ...values }, refusal }
  return showPanel(visit, workspace, {
    status: refusal?.status ?? 200,
    scripts: ['copy', 'passkey'],
    body: html`${refusalNote(typed)}<form method="post" action="${connectPath(identity.agentId, client.id)}" class="stack">
${await turnField(visit, workspace)}
${fold({
  summary: html`<span><strong>The key</strong> <span class="dim">It reads and writes every memory and never expires, unless you choose otherwise.</span></span>`,
  open: refusal !== undefined,
  body: html`<div class="stack">${keyFields(typed)}</div>`,
})}
${await proof(PASSWORD, visit, workspace, typed)}
<button>Make a key and show the text</button>
</form>
${fold({
  summary: html`<span><strong>I already have a key</strong> <span class="dim">The same text, with a place for your key.</span></span>`,
  open: false,
  body: html`<div class="stack">${steps(client, { url: urlOf(workspace, call), token: NO_KEY })}</div>`,
})}`,
  })
}

/** For a client that makes its own key by signing in. */
async function showAddress(visit: PanelVisit, workspace: Workspace, since: number) {
  const { params, identity, call } = visit
  const key = await watchedKey(visit, workspace, { since })
  const place = { url: urlOf(workspace, call), token: '' }
  const path = connectPath(identity.agentId, params.client.id, { since: `${since}` })
  return showPanel(visit, workspace, {
    from: path,
    body: html`${workspace.secure ? nothing : NO_ADDRESS}
${steps(params.client, place)}
${firstCall(identity.agentId, key, workspace.clock(), since)}
<p class="actions">${lookAgain(identity.agentId, path)}</p>`,
  })
}

interface Connected {
  readonly key: NamedKey
  /** Shown once. */
  readonly token?: string
}

function showConnected(visit: PanelVisit, workspace: Workspace, { key, token }: Connected) {
  const { params, identity, call } = visit
  const path = connectPath(identity.agentId, params.client.id, { key: key.id })
  const place = { url: urlOf(workspace, call), token: token ?? NO_KEY }
  return showPanel(visit, workspace, {
    from: path,
    ...(token && { scripts: ['copy', 'shown'] }),
    body: html`${
      token
        ? html`<div class="note warn" role="status"><p><strong>Copy it now.</strong> It holds the new key “<bdi>${key.name}</bdi>”, which is shown only here and only once.</p></div>`
        : html`<p>Replace <code>${NO_KEY}</code> with the key “<bdi>${key.name}</bdi>”, which was shown once.</p>`
    }
${steps(params.client, place)}
${firstCall(identity.agentId, key, workspace.clock())}
<p class="actions">${
      token
        ? html`<a class="button" href="${path}" data-shown-once>I have copied it</a>`
        : lookAgain(identity.agentId, path)
    }</p>`,
  })
}

const path = `${tabPath(':agent', 'connect')}/:client`

export const panelPage = endpoint({
  operationId: 'consoleConnectClient',
  method: 'GET',
  path,
  params: ofPanel,
  guards: [...forOwner, ...costs('reads')],
  query: z.object({
    key: z.string().optional(),
    since: queryInteger({ minimum: 0 }).optional(),
  }),
  errors: ['invalid_token'],
  async handle(visit, workspace: Workspace) {
    const { key: id, since = workspace.clock() } = visit.query
    if (visit.params.client.signsIn) return showAddress(visit, workspace, since)
    const key = id === undefined ? undefined : await watchedKey(visit, workspace, { key: id })
    return key ? showConnected(visit, workspace, { key }) : showForm(visit, workspace, untouched)
  },
})

export const connectForm = endpoint({
  operationId: 'consoleConnectKey',
  method: 'POST',
  path,
  params: ofPanel,
  guards: [
    ...formForOwner,
    again(withInput(showForm)),
    ...costs('controls'),
    recentSignIn(PASSWORD),
  ],
  errors: [
    ...WRITE_ERRORS,
    'invalid_body',
    'invalid_token',
    'key_quota_reached',
    'form_sent_before',
  ],
  async handle(visit, workspace: Workspace) {
    const request = keyRequestOf(visit.sent)
    await takeTurn(visit, workspace)
    return showConnected(visit, workspace, await makeKey(workspace, visit.identity, request))
  },
})

/** The agent's page, with a note about its first write. */
export const firstWritePath = (agentId: string): string => `${agentPath(agentId)}?first`

/** Part of the agent's page, which is requested again until there is a memory. */
export const firstWrite = (agentId: string, key: string | undefined): Html => html`<div
id="first-write" data-live role="status">${
  key === undefined
    ? html`<p class="waiting"><span class="pulse" aria-hidden="true"></span> Waiting for its first write…</p>`
    : html`<div class="note good"><p><strong>The first memory is here:</strong> <a href="${memoryPath(agentId, key)}"><code>${key}</code></a>. <a href="${agentPath(agentId)}">See what the agent is doing</a></p></div>`
}</div>`
