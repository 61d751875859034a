/** /console/agents/<id>/memories/deleted: deleted memories that can be restored. */
import { html } from 'hono/html'
import { z } from 'zod'
import { refusal } from '../../../home/refusal.ts'
import { memoryKey } from '../../../home/schemas.ts'
import type { DeletedMemory } from '../../../store/port/memories.ts'
import { hidden } from '../../layout/fields.ts'
import type { Html } from '../../layout/page.ts'
import { pages } from '../../layout/parts.ts'
import { agentPath, memoryPath } from '../../layout/paths.ts'
import { size, when } from '../../layout/words.ts'
import { findAgent, showAgentPage } from '../agent-page.ts'
import { byWhom } from '../author.ts'
import { agentPage } from '../endpoints.ts'
import { deletedPath } from './listing.ts'

const PER_PAGE = 25

interface Pane {
  readonly agentId: string
  readonly now: number
  readonly me: string
}

const row = ({ agentId, now, me }: Pane, each: DeletedMemory): Html => html`<li>
<a href="${memoryPath(agentId, each.key)}"><span class="key">${each.key}</span><span
class="dim">Deleted ${when(each.deletedAt, now)} · ${byWhom(each.by, me)} · ${size(each.bytes)}</span></a>
<form method="post" action="${agentPath(agentId)}/memories/undo">${hidden(`memory.${each.key}`, each.lastVersion)}
<button class="quiet" aria-label="Restore ${each.key}">Restore</button></form></li>`

const list = (pane: Pane, memories: readonly DeletedMemory[], next: string | undefined): Html =>
  memories.length === 0
    ? html`<p class="empty">Nothing was deleted that can be restored.</p>`
    : html`<ul class="memories deleted">${memories.map((each) => row(pane, each))}</ul>
${pages('Pages', undefined, next === undefined ? undefined : { path: `${deletedPath(pane.agentId)}?after=${next}`, words: 'Next' })}`

export const deletedPage = agentPage({
  operationId: 'consoleDeleted',
  path: deletedPath(':agent'),
  query: z.object({ after: memoryKey.optional().catch(undefined) }),
  async handle(visit, workspace) {
    const { identity, query } = visit
    const wanted = { prefix: '', after: query.after, limit: PER_PAGE }
    const [agent, found] = await Promise.all([
      findAgent(workspace, identity),
      workspace.store.listDeleted(identity, wanted),
    ])
    if (found.outcome !== 'deleted') throw refusal(found)
    const { agentId } = identity
    return showAgentPage(visit, workspace, {
      tab: 'memories',
      title: 'Recently deleted',
      agent,
      scripts: ['submit'],
      body: html`<h1>Recently deleted</h1>
<p class="dim">Their versions are kept. Restoring one makes a new version of what was there.</p>
${list({ agentId, now: workspace.clock(), me: visit.session.email }, found.memories, found.next)}`,
    })
  },
})
