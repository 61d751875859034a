/** /console/agents/<id>/memories: the list, and search by the beginning of a key. */
import { html } from 'hono/html'
import { z } from 'zod'
import { refusal } from '../../../home/refusal.ts'
import { endpoint } from '../../../pipeline/endpoint.ts'
import type { MemorySummary } from '../../../store/port/keeping/memories.ts'
import { input } from '../../layout/fields.ts'
import { type Html, nothing } from '../../layout/page.ts'
import { agentPath, memoryPath } from '../../layout/paths.ts'
import { size, when } from '../../layout/words.ts'
import { showAgentPage } from '../agent-page.ts'
import { costs, forOwner, ofAgent } from '../guards.ts'
import type { AgentVisit, Workspace } from '../workspace.ts'

const MEMORIES_PER_PAGE = 50

/** All of their metadata fits. */
const PAGE_BYTES = 1_048_576

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

const further = (prefix: string, after: string | undefined): Html =>
  after
    ? html`<p><a href="?${new URLSearchParams({ prefix, after }).toString()}">More memories</a></p>`
    : nothing

const empty = (prefix: string): Html =>
  html`<p class="empty">${prefix ? `No key begins with “${prefix}”.` : 'Nothing is kept yet.'}</p>`

async function find(
  { identity }: AgentVisit,
  { store }: Workspace,
  prefix: string,
  after: string | undefined,
) {
  const page = { order: 'key', after, limit: MEMORIES_PER_PAGE, maxBytes: PAGE_BYTES } as const
  const found = await store.listMemories(identity, { prefix, whole: false, ...page })
  if (found.outcome !== 'memories') throw refusal(found)
  return found
}

export const memoriesPage = endpoint({
  operationId: 'consoleMemories',
  method: 'GET',
  path: `${agentPath(':agent')}/memories`,
  params: ofAgent,
  guards: [...forOwner, ...costs('reads')],
  query: z.object({ prefix: z.string().default(''), after: z.string().optional() }),
  errors: ['invalid_token'],
  async handle(visit, workspace: Workspace) {
    const {
      identity: { agentId },
      query: { prefix, after },
    } = visit
    const { memories, next } = await find(visit, workspace, prefix, after)
    return showAgentPage(visit, workspace, {
      tab: 'memories',
      title: 'Memories',
      body: html`<h1>Memories</h1>
${search(prefix)}
${memories.length > 0 ? table(agentId, memories, workspace.clock()) : empty(prefix)}
${further(prefix, next)}`,
    })
  },
})
