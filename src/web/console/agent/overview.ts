/** /console/agents/<id>: recent activity, charts, what needs attention, and the form that pauses it. */
import { html } from 'hono/html'
import { z } from 'zod'
import { findKeys } from '../../../home/keys.ts'
import { statusChange } from '../../../home/profile.ts'
import { refusal } from '../../../home/refusal.ts'
import { type Answer, redirect } from '../../../http/call.ts'
import { validateBody } from '../../../pipeline/validate.ts'
import { DAYS_KEPT, type DayOfActivity, dayOf } from '../../../store/port/activity.ts'
import type { NamedKey } from '../../../store/port/keys.ts'
import { refusalNote, type Typed, untouched } from '../../layout/fields.ts'
import { type Html, LOOK_SECONDS, nothing } from '../../layout/page.ts'
import { agentPath, consolePath } from '../../layout/paths.ts'
import { number, size, when } from '../../layout/words.ts'
import { type FoundAgent, findAgent, showAgentPage, tabPath } from '../agent-page.ts'
import { agentForm, agentPage } from '../endpoints.ts'
import { withInput } from '../guards.ts'
import type { AgentVisit, Workspace } from '../workspace.ts'
import { unbroken } from './activity.ts'
import { concernList, concernsOf, rateConcerns } from './attention.ts'
import { connectSection, firstWrite, firstWritePath } from './connect.ts'
import { type Feed, newestRuns, type Run, runList } from './feed.ts'
import { isExpired, rights } from './keys.ts'

const RECENT = 8

const PROGRAMS = 5

const SOME = { prefix: '', order: 'key', limit: 1, whole: false, maxBytes: 1 } as const

async function look({ identity }: AgentVisit, workspace: Workspace) {
  const first = dayOf(workspace.clock()) - DAYS_KEPT + 1
  await workspace.calls.flush()
  const [seen, some] = await Promise.all([
    workspace.sessions.readActivity(identity, first),
    workspace.store.listMemories(identity, SOME),
  ])
  if (seen.outcome !== 'activity') throw refusal(seen)
  if (some.outcome !== 'memories') throw refusal(some)
  const days = filled(seen.days, first)
  const today = days.at(-1) ?? noCalls(first)
  return { days, today, seenAt: seen.seenAt, someKey: some.memories[0]?.key }
}

type Seen = Awaited<ReturnType<typeof look>>

async function concerns(agent: FoundAgent, seen: Seen, workspace: Workspace): Promise<Html> {
  const { profile } = agent
  const { budgets, calls, limits, clock } = workspace
  const refusals = calls.refusalsOf(profile.agentId)
  const found = [
    ...concernsOf(agent, seen.today, limits),
    ...(await rateConcerns(budgets, profile.agentId)),
  ]
  return html`<div id="concerns" data-live>${concernList(profile.agentId, found, refusals, clock())}</div>`
}

const fact = (name: string, value: Html | string, beside = ''): Html =>
  html`<div><dt>${name}</dt><dd>${value}${beside ? html` <span class="dim">${beside}</span>` : nothing}</dd></div>`

function facts({ memoryCount, bytes }: FoundAgent, seen: Seen, now: number): Html {
  const { reads, writes, conflicts, refusals } = seen.today
  return html`<dl class="stats" id="stats" data-live>
${fact('Last seen', seen.seenAt === undefined ? 'Not yet' : when(seen.seenAt, now))}
${fact('Memories', number(memoryCount), size(bytes))}
${fact('Writes today', number(writes))}
${fact('Reads today', number(reads))}
${fact('Conflicts today', number(conflicts))}
${fact('Refused today', number(refusals))}
</dl>`
}

const recent = (feed: Feed, runs: readonly Run[], chain: Html): Html => html`<section
aria-labelledby="recent">
<div class="headed"><h2 id="recent">Recent events</h2><a href="${tabPath(feed.agentId, 'activity')}">All activity</a></div>
<div id="events" data-live="waits">${
  runs.length > 0 ? runList(feed, runs) : html`<p class="empty">Nothing happened yet.</p>`
}${chain}</div>
</section>`

const lastUse = ({ lastUsedAt = 0 }: NamedKey): number => lastUsedAt

const connection = (key: NamedKey, now: number): Html =>
  html`<li class="row"><span class="grow"><strong><bdi>${key.name}</bdi></strong> <span class="dim">${rights[key.access]}</span></span><span class="dim">called ${when(lastUse(key), now)}</span></li>`

/** The named keys that programs use, the last used first. */
function connections(agentId: string, keys: readonly NamedKey[], now: number): Html {
  const used = keys
    .filter((key) => lastUse(key) && !isExpired(key, now))
    .toSorted((a, b) => lastUse(b) - lastUse(a))
  return html`<section aria-labelledby="connected">
<div class="headed"><h2 id="connected">Connected programs</h2><a href="${tabPath(agentId, 'connect')}">Connect a program</a></div>
<div id="programs" data-live>${
    used.length > 0
      ? html`<ul class="rows">${used.slice(0, PROGRAMS).map((key) => connection(key, now))}</ul>`
      : html`<p class="empty">No program with a key of its own yet.</p>`
  }${used.length > PROGRAMS ? html`<p><a href="${tabPath(agentId, 'keys')}">All ${used.length} that were used</a></p>` : nothing}</div>
</section>`
}

/** Of a drawing, which is stretched to its place. */
const HEIGHT = 80
const STEP = 10

const noCalls = (day: number): DayOfActivity => ({
  ...{ day, reads: 0, writes: 0, conflicts: 0, refusals: 0 },
})

/** Every day of the window, including days without calls. */
function filled(days: readonly DayOfActivity[], first: number): DayOfActivity[] {
  const known = new Map(days.map((each) => [each.day, each]))
  return Array.from({ length: DAYS_KEPT }, (_, i) => known.get(first + i) ?? noCalls(first + i))
}

const series = [
  { of: 'writes', name: 'Writes' },
  { of: 'reads', name: 'Reads' },
  { of: 'conflicts', name: 'Conflicts' },
  { of: 'refusals', name: 'Refused calls' },
] as const

/** From the oldest day to this one; what there was is seen, however little. */
const bar = (value: number, at: number, most: number): string =>
  value === 0
    ? ''
    : `M${at * STEP + 1} ${HEIGHT}v-${Math.max(2, (value / most) * HEIGHT).toFixed(1)}h${STEP - 2}V${HEIGHT}z`

function plot({ of, name }: (typeof series)[number], days: readonly DayOfActivity[]): Html {
  const values = days.map((day) => day[of])
  const total = values.reduce((sum, value) => sum + value, 0)
  const most = Math.max(...values)
  return html`<figure class="plot ${of}">
<figcaption><strong>${name}</strong> <span class="dim">${number(total)}, at most ${number(most)} a day</span></figcaption>
<svg viewBox="0 0 ${DAYS_KEPT * STEP} ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true"><path d="${values.map((value, at) => bar(value, at, most)).join('')}"/></svg>
</figure>`
}

/** Of what there is: nothing if there was no call. */
function chart(days: readonly DayOfActivity[]): Html {
  const some = series.filter(({ of }) => days.some((day) => day[of] > 0))
  if (some.length === 0) return nothing
  return html`<section aria-labelledby="days">
<h2 id="days">The last ${DAYS_KEPT} days</h2>
<div class="plots" id="plots" data-live>${some.map((each) => plot(each, days))}</div>
</section>`
}

const isNew = ({ memoryCount }: FoundAgent, { days }: Seen): boolean =>
  memoryCount === 0 && days.every(({ writes }) => writes === 0)

/** The page, also with the errors of the switch. */
async function showAgent(
  visit: AgentVisit,
  workspace: Workspace,
  typed: Typed,
  first = false,
): Promise<Answer> {
  const { identity } = visit
  const { agentId } = identity
  const agent = await findAgent(workspace, identity)
  const seen = await look(visit, workspace)
  const [{ runs }, keys, chain] = await Promise.all([
    newestRuns(workspace, identity, { rows: RECENT }),
    findKeys(workspace, identity),
    unbroken(workspace, identity),
  ])
  const now = workspace.clock()
  const feed = { agentId, me: visit.session.email, time: (at: number) => when(at, now) }
  const waits = isNew(agent, seen)
  return showAgentPage(visit, workspace, {
    agent,
    tab: 'overview',
    title: agent.profile.name,
    looks: LOOK_SECONDS,
    status: typed.refusal?.status ?? 200,
    ...(waits && { from: firstWritePath(agentId) }),
    body: html`${refusalNote(typed)}
<p class="purpose dim" dir="auto">${agent.profile.purpose}</p>
${waits || first ? firstWrite(agentId, seen.someKey) : nothing}
${await concerns(agent, seen, workspace)}
${waits ? connectSection(agentId) : facts(agent, seen, now)}
<div class="halves overview">${recent(feed, runs, chain)}
${waits ? nothing : html`<div>${connections(agentId, keys, now)}${chart(seen.days)}</div>`}</div>`,
  })
}

export const agentOverview = agentPage({
  operationId: 'consoleAgent',
  path: agentPath(':agent'),
  budget: null,
  query: z.object({ first: z.string().optional() }),
  handle: (visit, workspace) =>
    showAgent(visit, workspace, untouched, visit.query.first !== undefined),
})

export const statusForm = agentForm({
  operationId: 'consoleStatus',
  path: `${agentPath(':agent')}/status`,
  budget: 'controls',
  refuse: withInput(showAgent),
  async handle({ call, identity, sent }, { store, clock }) {
    const { status } = validateBody(statusChange, { status: sent.status })
    const changed = await store.setStatus(identity, status, clock())
    if (changed.outcome !== 'profile') throw refusal(changed)
    return redirect(call, consolePath(sent.back ?? '') ?? agentPath(identity.agentId))
  },
})
