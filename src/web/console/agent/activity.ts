/** /console/agents/<id>/activity: the events of a home, as a page and as a stream for live pages. */
import { html } from 'hono/html'
import { z } from 'zod'
import { homeEventText, position, streamEvents } from '../../../home/event-stream.ts'
import { findHead } from '../../../home/head.ts'
import { refusal } from '../../../home/refusal.ts'
import { queryInteger } from '../../../pipeline/schemas.ts'
import { findSession } from '../../../pipeline/sessions.ts'
import type { HomeStore, Identity } from '../../../store/port/home.ts'
import type { EventType, HomeEvent } from '../../../store/port/keeping/events.ts'
import { type Html, nothing } from '../../layout/page.ts'
import { memoryPath } from '../../layout/paths.ts'
import { plural, when } from '../../layout/words.ts'
import { eventsPath, showAgentPage, tabPath } from '../agent-page.ts'
import { byWhom } from '../author.ts'
import { agentPage } from '../endpoints.ts'
import type { Visit, Workspace } from '../workspace.ts'
import { chainData, chainFacts } from './chain.ts'

const words: Readonly<Record<EventType, string>> = {
  write: 'Wrote',
  patch: 'Changed',
  append: 'Appended to',
  edit: 'Edited',
  delete: 'Deleted',
  restore: 'Brought back',
  rename: 'Renamed',
  import: 'Imported',
  erase: 'Erased',
  protect: 'Protected',
  unprotect: 'No longer protects',
  export: 'Exported everything',
  profile: 'Changed the profile',
  pause: 'Paused the agent',
  resume: 'Activated the agent',
  rotate_key: 'Rotated the agent token',
  create_key: 'Created the key',
  revoke_key: 'Revoked the key',
  replace_operator_key: 'Replaced the operator token',
  sign_in: 'Signed in',
  rollback: 'Rolled back',
}

function about(agentId: string, { key, from, namedKey, rollback }: HomeEvent): Html {
  if (rollback) return html` to event ${rollback.to}: ${plural(rollback.parts, 'change')}`
  if (namedKey) return html` “<bdi>${namedKey.name}</bdi>”`
  if (key === undefined) return nothing
  const renamed = from === undefined ? nothing : html` <code>${from}</code> to`
  return html`${renamed} <a href="${memoryPath(agentId, key)}"><code>${key}</code></a>`
}

const what = (agentId: string, event: HomeEvent): Html =>
  html`${words[event.type]}${about(agentId, event)}`

const row = (agentId: string, event: HomeEvent, now: number): Html => html`<tr>
<td class="words what">${what(agentId, event)}</td>
<td class="words">${byWhom(event.by)}</td>
<td>${event.version === undefined ? nothing : html`version ${event.version}`}</td>
<td class="end">${when(event.createdAt, now)}</td>
</tr>`

const eventTable = (agentId: string, events: readonly HomeEvent[], now: number): Html =>
  html`<table class="list events">
<thead><tr><th scope="col">What happened</th><th scope="col">Who</th><th scope="col">Version</th><th scope="col" class="end">When</th></tr></thead>
<tbody>${events.map((event) => row(agentId, event, now))}</tbody>
</table>`

const item = (agentId: string, event: HomeEvent, now: number): Html => html`<li>
<span class="what">${what(agentId, event)}</span>
<span class="dim">${when(event.createdAt, now)}</span>
<span class="by dim">${byWhom(event.by)}</span></li>`

/** A short list, next to other content. */
export const eventList = (agentId: string, events: readonly HomeEvent[], now: number): Html =>
  html`<ol class="feed">${events.map((event) => item(agentId, event, now))}</ol>`

/** Oldest first. */
export async function eventsAfter(
  { store }: Workspace,
  identity: Identity,
  id: number,
  limit: number,
) {
  const found = await store.eventsAfter(identity, id, limit)
  if (found.outcome !== 'events') throw refusal(found)
  return found
}

/** Newest first. Events are numbered without gaps, so a page is found by its numbers. */
export async function eventsBefore(
  workspace: Workspace,
  identity: Identity,
  { before = Number.MAX_SAFE_INTEGER, limit }: { before?: number | undefined; limit: number },
) {
  const { head, base } = await findHead(workspace, identity)
  const newest = Math.min(head.id, before - 1)
  const after = Math.max(base.id, newest - limit)
  const { events, previous } = await eventsAfter(workspace, identity, after, limit)
  return {
    page: events.filter(({ id }) => id <= newest).toReversed(),
    next: after > base.id ? after + 1 : undefined,
    head,
    base,
    newest,
    /** What the oldest event of the page follows; no hash if the event before it is not there. */
    previous: previous ?? { id: after, hash: '' },
  }
}

/** With long keys, and all that the page loads, within 60 KB. */
const EVENTS_PER_PAGE = 36

export const activityPage = agentPage({
  operationId: 'consoleActivity',
  path: tabPath(':agent', 'activity'),
  query: z.object({
    before: queryInteger({ minimum: 1 }).optional(),
    /** With what a browser needs to check the events. */
    chained: z.string().optional(),
  }),
  async handle(visit, workspace) {
    const { agentId } = visit.identity
    const { before, chained } = visit.query
    const shown = await eventsBefore(workspace, visit.identity, {
      before,
      limit: EVENTS_PER_PAGE,
    })
    const { page, next, base } = shown
    const [oldest] = (await eventsAfter(workspace, visit.identity, base.id, 1)).events
    const live = before === undefined ? html` data-live` : nothing
    return showAgentPage(visit, workspace, {
      tab: 'activity',
      title: 'Activity',
      scripts: ['copy', 'check'],
      body: html`<h1>Activity</h1>
<p class="dim">Everything that happened in this home, newest first. It holds no texts, and outlives them.</p>
<div id="chain"${live}>${chainFacts(shown, oldest)}</div>
<div id="events"${live}><div id="shown" data-chained="?before=${shown.newest + 1}&amp;chained">${
        page.length > 0
          ? eventTable(agentId, page, workspace.clock())
          : html`<p class="empty">Nothing happened yet.</p>`
      }</div>${chained === undefined ? nothing : chainData(shown)}
<p class="actions">${
        before === undefined
          ? nothing
          : html`<a class="button quiet" href="${tabPath(agentId, 'activity')}">Newest</a>`
      }${
        next === undefined
          ? nothing
          : html`<a class="button quiet" rel="next" href="?before=${next}">Older</a>`
      }</p></div>`,
    })
  },
})

/** A stream ends with the session that opened it. */
const whileSignedIn = ({ call }: Visit, workspace: Workspace): HomeStore => ({
  ...workspace.store,
  async eventsAfter(...asked) {
    const session = await findSession(call, workspace)
    return session ? workspace.store.eventsAfter(...asked) : { outcome: 'revoked' }
  },
})

/** The same type for all events: pages are requested again after any of them. */
const KIND = 'home'

export const agentEvents = agentPage({
  operationId: 'consoleEvents',
  path: eventsPath(':agent'),
  query: z.object({ after: position.optional() }),
  errors: ['invalid_last_event_id', 'too_many_streams'],
  handle: (visit, workspace) =>
    streamEvents(
      visit.call,
      { ...workspace, store: whileSignedIn(visit, workspace) },
      visit.identity,
      { asked: visit.query.after, told: (event) => homeEventText(event, KIND) },
    ),
})
