/** /console/agents/<id>: one agent's profile, limits, activity and controls. */

import { html } from 'hono/html'
import type { BudgetName } from '../../../home/limits.ts'
import { refusal } from '../../../home/refusal.ts'
import type { Answer } from '../../../http/call.ts'
import { endpoint } from '../../../pipeline/endpoint.ts'
import { spenderOf } from '../../../pipeline/guards/budget.ts'
import type { Profile } from '../../../store/port/home.ts'
import { symbols } from '../../../symbols.ts'
import { type Typed, untouched } from '../../layout/fields.ts'
import { glyph } from '../../layout/glyphs.ts'
import { type Html, showPage } from '../../layout/page.ts'
import { agentPath } from '../../layout/paths.ts'
import { number, plural, when } from '../../layout/words.ts'
import { forOwner, ofAgent } from '../guards.ts'
import type { AgentVisit, Workspace } from '../workspace.ts'
import { activitySection } from './activity.ts'
import { statusMark } from './agents.ts'
import { controls } from './controls.ts'

const symbolName = (id: string): string => symbols.find((each) => each.id === id)?.name.en ?? id

const head = (profile: Profile, now: number): Html => html`<header class="profile">
<span class="crest">${glyph(profile.symbol)}</span>
<div class="grow">
<h1 dir="auto">${profile.name}</h1>
<p class="lead" dir="auto">${profile.purpose}</p>
<p class="dim">${statusMark(profile.status)} ${symbolName(profile.symbol)} · born ${when(profile.createdAt, now)} · <code>${profile.agentId}</code></p>
</div>
</header>`

const gauge = (label: string, used: number, quota: number): Html => html`<li>
<span>${label}</span>
${quota > 0 ? html`<meter min="0" max="${quota}" high="${quota * 0.9}" value="${used}" aria-label="${label}"></meter>` : html`<span></span>`}
<span class="end">${number(used)} of ${quota > 0 ? number(quota) : 'any number'}</span>
</li>`

const rates: readonly (readonly [BudgetName, string])[] = [
  ['reads', 'Reads in this minute'],
  ['writes', 'Writes in this minute'],
  ['exports', 'Exports in this minute'],
  ['controls', 'Your status and key changes in this minute'],
]

async function limitsSection(
  { identity }: AgentVisit,
  { budgets, limits }: Workspace,
  memoryCount: number,
): Promise<Html> {
  const gauges = rates.map(async ([name, label]) => {
    const spender = name === 'controls' ? spenderOf(identity) : identity.agentId
    const { policy, remaining } = await budgets.look(name, spender)
    return gauge(label, policy.quota - remaining, policy.quota)
  })
  return html`<section aria-labelledby="limits">
<h2 id="limits">Limits</h2>
<ul class="gauges">${gauge('Memories', memoryCount, limits.memoriesPerAgent)}${await Promise.all(gauges)}</ul>
</section>`
}

const memories = (agentId: string, count: number): Html => html`<section aria-labelledby="memories">
<h2 id="memories">Memories</h2>
<p>${plural(count, 'memory', 'memories')}, each with its key and version.</p>
<p class="actions"><a class="button" href="${agentPath(agentId)}/memories">See the memories</a>
<a class="button quiet" href="${agentPath(agentId)}/export" download>Download the export</a>
<a class="button quiet" href="${agentPath(agentId)}/print">Read everything on one page</a>
<a class="button quiet" href="${agentPath(agentId)}/log">See what happened</a></p>
</section>`

/** The page, also shown again by the controls that refuse. */
export async function showAgent(
  visit: AgentVisit,
  workspace: Workspace,
  typed: Typed,
): Promise<Answer> {
  const { call, session, identity } = visit
  const found = await workspace.store.readProfile(identity)
  if (found.outcome !== 'profile') throw refusal(found)
  const { profile, memoryCount } = found
  return showPage(call, workspace.secure, {
    title: profile.name,
    status: typed.refusal?.status ?? 200,
    session,
    body: html`<p class="trail"><a href="/console">Your agents</a></p>
${head(profile, workspace.clock())}
${memories(identity.agentId, memoryCount)}
${await activitySection(visit, workspace)}
${await limitsSection(visit, workspace, memoryCount)}
${controls(profile, typed)}`,
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
