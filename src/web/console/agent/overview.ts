/** /console/agents/<id>: one agent's profile, limits, activity and controls. */

import { html } from 'hono/html'
import { refusal } from '../../../home/endpoint.ts'
import type { BudgetName } from '../../../home/limits.ts'
import type { Answer } from '../../../http/call.ts'
import type { Profile } from '../../../store/port.ts'
import { symbols } from '../../../symbols.ts'
import { type Typed, untouched } from '../../layout/fields.ts'
import { glyph } from '../../layout/glyphs.ts'
import { type Html, showPage } from '../../layout/page.ts'
import { number, plural, when } from '../../layout/words.ts'
import { type AgentVisit, agentPage } from '../route.ts'
import { activitySection } from './activity.ts'
import { controls } from './controls.ts'
import { statusMark } from './list.ts'

export const agentPath = (agentId: string): string => `/console/agents/${agentId}`

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
  ['controls', 'Status and key changes in this minute'],
]

async function limits({ console, agent }: AgentVisit, memoryCount: number): Promise<Html> {
  const { home } = console
  const gauges = rates.map(async ([name, label]) => {
    const { policy, remaining } = await home.budgets.look(name, agent.agentId)
    return gauge(label, policy.quota - remaining, policy.quota)
  })
  return html`<section aria-labelledby="limits">
<h2 id="limits">Limits</h2>
<ul class="gauges">${gauge('Memories', memoryCount, home.limits.memoriesPerAgent)}${await Promise.all(gauges)}</ul>
</section>`
}

const memories = (agentId: string, count: number): Html => html`<section aria-labelledby="memories">
<h2 id="memories">Memories</h2>
<p>${plural(count, 'memory', 'memories')}, each with its key and version.</p>
<p class="actions"><a class="button" href="${agentPath(agentId)}/memories">See the memories</a>
<a class="button quiet" href="${agentPath(agentId)}/export" download>Download the export</a>
<a class="button quiet" href="${agentPath(agentId)}/print">Read everything on one page</a></p>
</section>`

/** The page, also shown again by the controls that refuse. */
export async function showAgent(visit: AgentVisit, typed: Typed): Promise<Answer> {
  const { call, console, session, agent } = visit
  const found = await console.home.store.readProfile(agent)
  if (found.outcome !== 'profile') throw refusal(found)
  const { profile, memoryCount } = found
  return showPage(call, console.secure, {
    title: profile.name,
    status: typed.refusal?.status ?? 200,
    session,
    body: html`<p class="trail"><a href="/console">Your agents</a></p>
${head(profile, console.home.clock())}
${memories(agent.agentId, memoryCount)}
${await activitySection(visit)}
${await limits(visit, memoryCount)}
${controls(profile, typed)}`,
  })
}

export const agentOverview = agentPage('consoleAgent', '', (visit) => showAgent(visit, untouched))
