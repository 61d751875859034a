/** /console/agents/<id>/activity: the events of a home and their chain, and a stream for live pages. */
import { html, raw } from 'hono/html'
import { z } from 'zod'
import { homeEventText, position, streamEvents } from '../../../home/event-stream.ts'
import { eventView } from '../../../home/events.ts'
import { findHead } from '../../../home/head.ts'
import { refusal } from '../../../home/refusal.ts'
import { endpoint } from '../../../pipeline/endpoint.ts'
import { spendAfter } from '../../../pipeline/guards/budget.ts'
import { queryInteger } from '../../../pipeline/schemas.ts'
import { findSession } from '../../../pipeline/sessions.ts'
import {
  EVENT_TYPES,
  type HomeEvent,
  type Link,
  ROWS_PER_LOOK,
} from '../../../store/port/events.ts'
import type { HomeStore } from '../../../store/port/home.ts'
import type { Identity } from '../../../store/port/identity.ts'
import { type Html, nothing } from '../../layout/page.ts'
import { note, pages } from '../../layout/parts.ts'
import { type Clock, number, onDay, plural } from '../../layout/words.ts'
import {
  eventsPath,
  exportPath,
  type FoundAgent,
  findAgent,
  showAgentPage,
  tabPath,
} from '../agent-page.ts'
import { agentPage } from '../endpoints.ts'
import { costs, forOwner, ofAgent } from '../guards.ts'
import type { Visit, Workspace } from '../workspace.ts'
import { type Feed, newestRuns, type Run, runList } from './feed.ts'
import {
  changeFilters,
  clockOf,
  DAY_MS,
  type Filters,
  filterForm,
  filtersQuery,
  takeBackPath,
  unlessEmpty,
} from './filters.ts'

/** Under a heading for each day. */
function listByDay(feed: Feed, { day }: Clock, runs: readonly Run[], now: number): Html[] {
  const names = new Map([
    [day(now - DAY_MS), 'Yesterday'],
    [day(now), 'Today'],
  ])
  return [...Map.groupBy(runs, ({ events: [newest] }) => day(newest.createdAt))].map(
    ([each, some]) => html`<h2>${names.get(each) ?? each}</h2>${runList(feed, some)}`,
  )
}

/** The first after an event. */
export async function eventsAfter({ store }: Workspace, identity: Identity, id: number) {
  const found = await store.eventsAfter(identity, id, 1)
  if (found.outcome !== 'events') throw refusal(found)
  return found
}

/** What a rollback did, for the page after it. */
export const rolledBackQuery = (restored: number, deleted: number, skipped: number): string =>
  `rolled=${restored}-${deleted}-${skipped}`

function rolledBackNote(rolled: string | undefined): Html {
  if (rolled === undefined) return nothing
  const [restored = 0, deleted = 0, skipped = 0] = rolled.split('-').map(Number)
  return note(
    'good',
    html`<p>Took back ${plural(restored + deleted, 'change')}: ${plural(restored, 'memory', 'memories')} restored, ${deleted} deleted${skipped > 0 ? `, ${skipped} left as they are` : ''}. Each is a new version, listed first below.</p>`,
  )
}

/** With long keys, and all that the page loads, within 60 KB. */
const ROWS_PER_PAGE = 36

const more = (agentId: string, asked: Filters, before = 0, next = 0): Html => {
  const path = tabPath(agentId, 'activity')
  const query = filtersQuery(asked)
  return pages(
    'Pages',
    before ? { path: `${path}${query && `?${query}`}`, words: 'Newest' } : undefined,
    next ? { path: `?${query && `${query}&`}before=${next}`, words: 'Older' } : undefined,
  )
}

export const activityPage = endpoint({
  operationId: 'consoleActivity',
  method: 'GET',
  path: tabPath(':agent', 'activity'),
  params: ofAgent,
  guards: [...forOwner, ...costs('reads')],
  errors: ['invalid_token'],
  query: z.object({
    ...changeFilters,
    type: unlessEmpty(z.enum(EVENT_TYPES)),
    before: queryInteger({ minimum: 1 }).optional(),
    /** With what a browser needs to check the events. */
    chained: z.string().optional(),
    rolled: z
      .string()
      .regex(/^\d{1,9}-\d{1,9}-\d{1,9}$/)
      .optional()
      .catch(undefined),
  }),
  async handle(visit, workspace: Workspace) {
    const { call, identity, session } = visit
    const { agentId } = identity
    const { before, chained, rolled, ...asked } = visit.query
    const agent = await findAgent(workspace, identity)
    const { head, base } = await findHead(workspace, identity)
    const newest = Math.min(head.id, (before ?? Number.MAX_SAFE_INTEGER) - 1)
    const clock = clockOf(call)
    const wanted = { ...asked, after: newest + 1, rows: ROWS_PER_PAGE, dayOf: clock.day }
    const { runs, next, looked } = await newestRuns(workspace, identity, wanted)
    const events = runs.flatMap((run) => run.events)
    await spendAfter(visit, workspace, Math.ceil(looked / ROWS_PER_LOOK) - 1)
    const feed = { agentId, me: session.email, time: clock.time }
    const now = workspace.clock()
    const live = before === undefined ? html` data-live` : nothing
    const isPlain = filtersQuery(asked) === ''
    const chain = isPlain
      ? await chainOf(workspace, identity, { agent, head, base, newest, page: events }, chained)
      : undefined
    const action = tabPath(agentId, 'activity')
    const form = { action, asked, clock, known: events, kinds: true, finds: 'events' }
    return showAgentPage(visit, workspace, {
      agent,
      tab: 'activity',
      title: 'Activity',
      scripts: ['copy', 'check', 'find'],
      body: html`<h1 class="away">Activity</h1><div class="headed"><a class="button quiet" href="${takeBackPath(agentId, asked)}">Take back changes…</a></div>
${rolledBackNote(rolled)}
${await filterForm(visit, workspace, form)}
<p class="away" role="status" id="found"></p>
<div id="events" class="days"${before === undefined ? html` data-live="waits"` : nothing}><div id="shown" data-chained="?before=${newest + 1}&amp;chained">${
        events.length > 0
          ? listByDay(feed, clock, runs, now)
          : html`<p class="empty">${next === undefined ? (isPlain ? 'Nothing happened yet.' : 'Nothing like it happened.') : 'Nothing like it among the events that were looked at. Older ones follow.'}</p>`
      }</div>${chain?.data ?? nothing}
${more(agentId, asked, before, next)}</div>
<div id="chain"${live}>${chain?.facts ?? nothing}</div>
<div id="checked" role="status"></div>`,
    })
  },
})

interface ShownChain {
  readonly agent: FoundAgent
  readonly head: Link
  /** The event that the oldest retained one follows. */
  readonly base: Link
  /** Newest first. */
  readonly page: readonly HomeEvent[]
  /** The event that the page should begin with. */
  readonly newest: number
  /** What the oldest event of the page follows. */
  readonly previous: Link
}

const begun = ({ base }: ShownChain, oldest: HomeEvent | undefined): Html => {
  const event = base.id === 0 ? 'Its first event' : `Event ${number(base.id + 1)}`
  return oldest
    ? html`${event} <span class="dim">${onDay(oldest.createdAt)}</span>`
    : html`${event}`
}

const check = html` <button type="button" class="plain" data-checks="shown" hidden>Check those shown</button>`

const checkAll = ({ profile }: FoundAgent): Html =>
  html` <button type="button" class="plain" data-verifies="${exportPath(profile.agentId)}" hidden>Check everything</button>`

/** `oldest`: the oldest retained event. Nothing for a home without events. */
function chainFacts(chain: ShownChain, oldest: HomeEvent | undefined): Html {
  const { agent, head, base, newest } = chain
  return head.id === 0
    ? nothing
    : html`<dl class="stats chain">
<div><dt>Unbroken since</dt><dd>${begun(chain, oldest)}</dd></div>
<div><dt>Events</dt><dd class="line">${number(head.id - base.id)}${newest > base.id ? check : nothing}</dd></div>
<div><dt>Memories</dt><dd class="line">${number(agent.memoryCount)}${checkAll(agent)}</dd></div>
<div><dt>Head</dt><dd class="line"><code id="head">event ${head.id}, ${head.hash}</code> <button type="button" class="plain" data-copies="head" hidden>Copy<span class="away"> the head</span></button></dd></div>
</dl>
<p class="hint">The head is a hash of the newest event and of all before it. Keep it somewhere else, and you can tell later whether an event was changed or removed, or the home was set back to an older state; <code>agent-home check</code> does that for you.</p>`
}

/** Of a home's whole log, in a few words. */
export async function unbroken(workspace: Workspace, identity: Identity): Promise<Html> {
  const { head, base } = await findHead(workspace, identity)
  const [oldest] = (await eventsAfter(workspace, identity, base.id)).events
  return oldest
    ? html`<p class="dim">${plural(head.id - base.id, 'event')}, an unbroken chain since ${onDay(oldest.createdAt)}</p>`
    : nothing
}

/** Escaped, so that no name in it ends the element. */
const json = (value: unknown): Html =>
  html`${raw(JSON.stringify(value).replaceAll('<', '\\u003c'))}`

/** The events of the page as agents get them, oldest first: data, which no browser executes. */
function chainData({ head, page, newest, previous }: ShownChain): Html {
  const last = newest === head.id ? head : { id: newest }
  const events = page.toReversed().map(eventView)
  return html`<script type="application/json" id="chained">${json({ previous, events, last })}</script>`
}

async function chainOf(
  workspace: Workspace,
  identity: Identity,
  chain: Omit<ShownChain, 'previous'>,
  chained: string | undefined,
) {
  const [oldest] = (await eventsAfter(workspace, identity, chain.base.id)).events
  // What the oldest event of the page follows; no hash if the event before it is not there.
  const after = (chain.page.at(-1)?.id ?? chain.newest + 1) - 1
  const { previous = { id: after, hash: '' } } = await eventsAfter(workspace, identity, after)
  const shown = { ...chain, previous }
  return {
    facts: chainFacts(shown, oldest),
    data: chained === undefined ? nothing : chainData(shown),
  }
}

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
