/** /console/agents/<id>: recent activity, what needs attention, and the form that pauses it. */
import { html } from 'hono/html'
import { z } from 'zod'
import { statusChange } from '../../../home/profile.ts'
import { refusal } from '../../../home/refusal.ts'
import { type Answer, redirect } from '../../../http/call.ts'
import { validateBody } from '../../../pipeline/validate.ts'
import { type DayOfActivity, dayOf } from '../../../store/port/activity.ts'
import { refusalNote, type Typed, untouched } from '../../layout/fields.ts'
import { type Html, nothing } from '../../layout/page.ts'
import { agentPath, consolePath } from '../../layout/paths.ts'
import { number, size, when } from '../../layout/words.ts'
import { type FoundAgent, findAgent, showAgentPage, tabPath } from '../agent-page.ts'
import { agentForm, agentPage } from '../endpoints.ts'
import { withInput } from '../guards.ts'
import type { AgentVisit, Workspace } from '../workspace.ts'
import { concernList, concernsOf, rateConcerns } from './attention.ts'
import { chart, DAYS, filled } from './chart.ts'
import { connectSection, firstWrite, firstWritePath } from './connect.ts'
import { type Feed, newestRuns, type Run, runList } from './feed.ts'

const RECENT = 8

const SOME = { prefix: '', order: 'key', limit: 1, whole: false, maxBytes: 1 } as const

async function look({ identity }: AgentVisit, workspace: Workspace) {
  const first = dayOf(workspace.clock()) - DAYS + 1
  await workspace.calls.flush()
  const [seen, some] = await Promise.all([
    workspace.sessions.readActivity(identity, first),
    workspace.store.listMemories(identity, SOME),
  ])
  if (seen.outcome !== 'activity') throw refusal(seen)
  if (some.outcome !== 'memories') throw refusal(some)
  const { days, seenAt } = seen
  return { days: filled(days, first), seenAt, someKey: some.memories[0]?.key }
}

type Seen = Awaited<ReturnType<typeof look>>

const todayOf = ({ days }: Seen): DayOfActivity => {
  const today = days.at(-1)
  if (!today) throw new Error('a window without a day')
  return today
}

async function concerns(agent: FoundAgent, seen: Seen, workspace: Workspace): Promise<Html> {
  const { profile } = agent
  const { budgets, calls, limits, clock } = workspace
  const refusals = calls.refusalsOf(profile.agentId)
  const found = [
    ...concernsOf(agent, todayOf(seen), limits),
    ...(await rateConcerns(budgets, profile.agentId)),
  ]
  return html`<div id="concerns" data-live>${concernList(profile.agentId, found, refusals, clock())}</div>`
}

const fact = (name: string, value: Html | string, beside = ''): Html =>
  html`<div><dt>${name}</dt><dd>${value}${beside ? html` <span class="dim">${beside}</span>` : nothing}</dd></div>`

function facts({ memoryCount, bytes }: FoundAgent, seen: Seen, now: number): Html {
  const { reads, writes, conflicts, refusals } = todayOf(seen)
  return html`<dl class="stats" id="stats" data-live>
${fact('Last seen', seen.seenAt === undefined ? 'Not yet' : when(seen.seenAt, now))}
${fact('Memories', number(memoryCount), size(bytes))}
${fact('Writes today', number(writes))}
${fact('Reads today', number(reads))}
${fact('Conflicts today', number(conflicts))}
${fact('Refused today', number(refusals))}
</dl>`
}

const recent = (feed: Feed, runs: readonly Run[]): Html => html`<section
aria-labelledby="recent">
<div class="headed"><h2 id="recent">Recent events</h2><a href="${tabPath(feed.agentId, 'activity')}">All activity</a></div>
<div id="events" data-live="waits">${
  runs.length > 0 ? runList(feed, runs) : html`<p class="empty">Nothing happened yet.</p>`
}</div>
</section>`

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
  const { runs } = await newestRuns(workspace, identity, { rows: RECENT })
  const now = workspace.clock()
  const feed = { agentId, me: visit.session.email, time: (at: number) => when(at, now) }
  const waits = isNew(agent, seen)
  return showAgentPage(visit, workspace, {
    agent,
    tab: 'overview',
    title: agent.profile.name,
    status: typed.refusal?.status ?? 200,
    ...(waits && { from: firstWritePath(agentId) }),
    body: html`${refusalNote(typed)}
<p class="purpose dim" dir="auto">${agent.profile.purpose}</p>
${waits || first ? firstWrite(agentId, seen.someKey) : nothing}
${await concerns(agent, seen, workspace)}
${waits ? connectSection(agentId) : facts(agent, seen, now)}
<div class="halves overview">${recent(feed, runs)}
${waits ? nothing : chart(seen.days)}</div>`,
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
