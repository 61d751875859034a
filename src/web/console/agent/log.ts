/** /console/agents/<id>/log: what happened in this home, newest first. */
import { html } from 'hono/html'
import { z } from 'zod'
import { refusal } from '../../../home/refusal.ts'
import { endpoint } from '../../../pipeline/endpoint.ts'
import { queryInteger } from '../../../pipeline/schemas.ts'
import type { Identity } from '../../../store/port/home.ts'
import type { EventType, HomeEvent } from '../../../store/port/keeping/events.ts'
import { type Html, nothing, showPage } from '../../layout/page.ts'
import { agentPath, memoryPath } from '../../layout/paths.ts'
import { when } from '../../layout/words.ts'
import { byWhom } from '../author.ts'
import { costs, forOwner, ofAgent } from '../guards.ts'
import type { Workspace } from '../workspace.ts'

const EVENTS_PER_PAGE = 100

const words: Readonly<Record<EventType, string>> = {
  write: 'wrote',
  patch: 'changed',
  append: 'appended to',
  delete: 'deleted',
  restore: 'brought back',
  rename: 'renamed',
  import: 'imported',
  erase: 'erased',
  export: 'exported everything',
  profile: 'changed the profile',
  pause: 'paused the agent',
  resume: 'set the agent active',
  rotate_key: 'rotated the agent key',
  create_key: 'made a named key',
  revoke_key: 'ended a named key',
  replace_operator_key: 'replaced the operator key',
  sign_in: 'signed in',
}

const link = (agentId: string, key: string): Html =>
  html`<a href="${memoryPath(agentId, key)}">${key}</a>`

/** The memory's page may be gone since: the log outlives what it tells of. */
const memoryOf = (agentId: string, key: string, from: string | undefined): Html =>
  html`${from === undefined ? nothing : html`${from} to `}${link(agentId, key)}`

function about(agentId: string, { key, from, namedKey }: HomeEvent): Html {
  if (namedKey) return html`“<bdi>${namedKey.name}</bdi>”`
  return key === undefined ? nothing : memoryOf(agentId, key, from)
}

const row = (agentId: string, event: HomeEvent, now: number): Html => html`<tr>
<th scope="row">${event.id}</th>
<td>${when(event.createdAt, now)}</td>
<td class="words">${byWhom(event.by)}</td>
<td>${words[event.type]}</td>
<td class="words">${about(agentId, event)}</td>
<td>${event.version === undefined ? nothing : html`version ${event.version}`}</td>
</tr>`

const table = (agentId: string, events: readonly HomeEvent[], now: number): Html =>
  html`<table class="list log">
<thead><tr><th scope="col">No.</th><th scope="col">When</th><th scope="col">Who</th><th scope="col">Did what</th><th scope="col">To what</th><th scope="col">Version</th></tr></thead>
<tbody>${events.map((event) => row(agentId, event, now))}</tbody>
</table>`

async function eventsAfter({ store }: Workspace, identity: Identity, id: number, limit: number) {
  const found = await store.eventsAfter(identity, id, limit)
  if (found.outcome !== 'events') throw refusal(found)
  return found
}

/** Newest first: events are numbered without a gap, so the page before another is found by number. */
async function pageBefore(workspace: Workspace, identity: Identity, before: number | undefined) {
  const { last, first } = await eventsAfter(workspace, identity, Number.MAX_SAFE_INTEGER, 1)
  const newest = Math.min(last, (before ?? Number.MAX_SAFE_INTEGER) - 1)
  const after = Math.max(0, newest - EVENTS_PER_PAGE)
  const { events } = await eventsAfter(workspace, identity, after, EVENTS_PER_PAGE)
  const page = events.filter(({ id }) => id <= newest).toReversed()
  return { page, next: after >= first ? after + 1 : undefined }
}

const further = (next: number | undefined): Html =>
  next === undefined ? nothing : html`<p><a href="?before=${next}">What was before</a></p>`

export const logPage = endpoint({
  operationId: 'consoleLog',
  method: 'GET',
  path: `${agentPath(':agent')}/log`,
  params: ofAgent,
  guards: [...forOwner, ...costs('reads')],
  query: z.object({ before: queryInteger({ minimum: 1 }).optional() }),
  errors: ['invalid_token'],
  async handle({ call, session, identity, query }, workspace: Workspace) {
    const { agentId } = identity
    const { page, next } = await pageBefore(workspace, identity, query.before)
    return showPage(call, workspace.secure, {
      title: 'Log',
      session,
      body: html`<p class="trail"><a href="/console">Your agents</a> / <a href="${agentPath(agentId)}">Agent</a></p>
<h1>Log</h1>
<p class="lead">Everything that happened in this home, newest first. It holds no texts, and outlives them.</p>
${page.length > 0 ? table(agentId, page, workspace.clock()) : html`<p class="empty">Nothing is told here.</p>`}
${further(next)}`,
    })
  },
})
