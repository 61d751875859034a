/** /console/agents/<id>/memory?key=…: one memory, as the agent wrote it. */

import { z } from '@hono/zod-openapi'
import { html } from 'hono/html'
import { findMemory } from '../../../home/memory.ts'
import { memoryKey } from '../../../home/schemas.ts'
import { spend } from '../../../pipeline/budgets.ts'
import { validateQuery } from '../../../pipeline/validate.ts'
import type { Memory } from '../../../store/port.ts'
import { type Html, nothing, showPage } from '../../layout/page.ts'
import { size, when } from '../../layout/words.ts'
import { type AgentVisit, agentPage } from '../route.ts'
import { memoryPath } from './list.ts'

const query = z.object({ key: memoryKey, saved: z.string().optional() })

/** Throws `invalid_query`, `rate_limited` or `memory_not_found`. */
export async function readOne(visit: AgentVisit): Promise<{ memory: Memory; saved: boolean }> {
  const { call, console, agent } = visit
  const { key, saved } = validateQuery(query, call)
  spend(call, await console.home.budgets.take('reads', agent.agentId))
  return { memory: await findMemory(console.home, agent, key), saved: saved !== undefined }
}

export const trail = (agentId: string): Html => html`<p class="trail"><a
href="/console">Your agents</a> / <a href="/console/agents/${agentId}">Agent</a> / <a
href="/console/agents/${agentId}/memories">Memories</a></p>`

export const facts = (memory: Memory, now: number): Html =>
  html`<p class="dim">Version ${memory.version} · ${size(Buffer.byteLength(memory.text))} · written ${when(memory.updatedAt, now)} · created ${when(memory.createdAt, now)}</p>`

export const metadataOf = ({ metadata }: Memory): Html =>
  metadata === '{}'
    ? nothing
    : html`<h2>Metadata</h2><pre class="text" dir="auto">${metadata}</pre>`

export const memoryPage = agentPage('consoleMemory', '/memory', async (visit) => {
  const { call, console, session, agent } = visit
  const { memory, saved } = await readOne(visit)
  return showPage(call, console.secure, {
    title: memory.key,
    session,
    body: html`${trail(agent.agentId)}
<h1 class="key">${memory.key}</h1>
${saved ? html`<div class="note good" role="status"><p>Saved as version ${memory.version}.</p></div>` : nothing}
${facts(memory, console.home.clock())}
<pre class="text" dir="auto" tabindex="0" aria-label="Text">${memory.text}</pre>
${metadataOf(memory)}
<p class="actions"><a class="button" href="${memoryPath(agent.agentId, memory.key, '/edit')}">Edit</a></p>`,
  })
})
