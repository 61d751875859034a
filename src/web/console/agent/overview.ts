/** /console/agents/<id>: what one agent is doing, and what of it needs attention. */
import { html } from 'hono/html'
import type { Answer } from '../../../http/call.ts'
import { endpoint } from '../../../pipeline/endpoint.ts'
import type { HomeEvent } from '../../../store/port/keeping/events.ts'
import { refusalNote, type Typed, untouched } from '../../layout/fields.ts'
import { type Html, nothing } from '../../layout/page.ts'
import { agentPath } from '../../layout/paths.ts'
import { findAgent, showAgentPage, tabPath } from '../agent-page.ts'
import { forOwner, ofAgent } from '../guards.ts'
import type { AgentVisit, Workspace } from '../workspace.ts'
import { activitySection } from './chart.ts'
import { eventList, eventsBefore } from './events.ts'

const RECENT = 8

const recent = (agentId: string, events: readonly HomeEvent[], now: number): Html => html`<section
aria-labelledby="recent">
<div class="headed"><h2 id="recent">Recent events</h2><a href="${tabPath(agentId, 'activity')}">All activity</a></div>
<div id="events" data-live>${
  events.length > 0
    ? eventList(agentId, events, now)
    : html`<p class="empty">Nothing happened yet.</p>`
}</div>
</section>`

/** The page, also shown again by the switch when it is refused. */
export async function showAgent(
  visit: AgentVisit,
  workspace: Workspace,
  typed: Typed,
): Promise<Answer> {
  const { identity } = visit
  const agent = await findAgent(workspace, identity)
  const { name, purpose } = agent.profile
  const { page } = await eventsBefore(workspace, identity, { limit: RECENT })
  return showAgentPage(visit, workspace, {
    agent,
    tab: 'overview',
    title: name,
    status: typed.refusal?.status ?? 200,
    body: html`<p class="purpose dim" dir="auto">${purpose}</p>
${typed.refusal ? refusalNote(typed) : nothing}
${await activitySection(visit, workspace)}
${recent(identity.agentId, page, workspace.clock())}`,
  })
}

export const agentOverview = endpoint({
  operationId: 'consoleAgent',
  method: 'GET',
  path: agentPath(':agent'),
  params: ofAgent,
  guards: forOwner,
  errors: ['invalid_token'],
  handle: (visit, workspace: Workspace) => showAgent(visit, workspace, untouched),
})
