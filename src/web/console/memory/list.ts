/** /console/agents/<id>/memories: the list, and search by the beginning of a key. */
import { html } from 'hono/html'
import { refusal } from '../../../home/endpoint.ts'
import { spend } from '../../../pipeline/budgets.ts'
import type { MemorySummary } from '../../../store/port.ts'
import { input } from '../../layout/fields.ts'
import { type Html, nothing, showPage } from '../../layout/page.ts'
import { size, when } from '../../layout/words.ts'
import { type AgentVisit, agentPage } from '../route.ts'

const MEMORIES_PER_PAGE = 50

export const memoryPath = (agentId: string, key: string, below = ''): string =>
  `/console/agents/${agentId}/memory${below}?key=${encodeURIComponent(key)}`

const row = (agentId: string, memory: MemorySummary, now: number): Html => html`<tr>
<th scope="row"><a href="${memoryPath(agentId, memory.key)}">${memory.key}</a></th>
<td>${size(memory.bytes)}</td>
<td>version ${memory.version}</td>
<td>${when(memory.updatedAt, now)}</td>
</tr>`

const table = (agentId: string, memories: readonly MemorySummary[], now: number): Html =>
  html`<table class="list">
<thead><tr><th scope="col">Key</th><th scope="col">Size</th><th scope="col">Version</th><th scope="col">Last written</th></tr></thead>
<tbody>${memories.map((each) => row(agentId, each, now))}</tbody>
</table>`

const search = (prefix: string): Html => html`<form method="get" role="search" class="search">
${input(
  { name: 'prefix', label: 'Keys that begin with', type: 'search', required: false },
  { values: { prefix } },
)}
<button class="quiet">Search</button>
</form>`

const further = (prefix: string, last: MemorySummary | undefined): Html =>
  last
    ? html`<p><a href="?${new URLSearchParams({ prefix, after: last.key }).toString()}">More memories</a></p>`
    : nothing

const empty = (prefix: string): Html =>
  html`<p class="empty">${prefix ? `No key begins with “${prefix}”.` : 'Nothing is kept yet.'}</p>`

async function find(visit: AgentVisit, prefix: string, after: string | undefined) {
  const { call, console, agent } = visit
  spend(call, await console.home.budgets.take('reads', agent.agentId))
  const found = await console.store.listMemories(agent, prefix, { after, limit: MEMORIES_PER_PAGE })
  if (found.outcome !== 'memories') throw refusal(found)
  return found.memories
}

export const memoriesPage = agentPage('consoleMemories', '/memories', async (visit) => {
  const { call, console, session, agent } = visit
  const query = new URLSearchParams(call.search)
  const prefix = query.get('prefix') ?? ''
  const memories = await find(visit, prefix, query.get('after') ?? undefined)
  const last = memories.length === MEMORIES_PER_PAGE ? memories.at(-1) : undefined
  return showPage(call, console.secure, {
    title: 'Memories',
    session,
    body: html`<p class="trail"><a href="/console">Your agents</a> / <a href="/console/agents/${agent.agentId}">Agent</a></p>
<h1>Memories</h1>
${search(prefix)}
${memories.length > 0 ? table(agent.agentId, memories, console.home.clock()) : empty(prefix)}
${further(prefix, last)}`,
  })
})
