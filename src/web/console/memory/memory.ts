/** /console/agents/<id>/memory?key=…: one memory, as the agent wrote it. */

import { html } from 'hono/html'
import { z } from 'zod'
import { findMemory } from '../../../home/memories/memory.ts'
import { memoryKey } from '../../../home/schemas.ts'
import { endpoint } from '../../../pipeline/endpoint.ts'
import type { Memory } from '../../../store/port/memories.ts'
import { type Html, nothing, showPage } from '../../layout/page.ts'
import { agentPath, memoryPath } from '../../layout/paths.ts'
import { size, when } from '../../layout/words.ts'
import { costs, forOwner, ofAgent } from '../guards.ts'
import type { Workspace } from '../workspace.ts'

export const trail = (agentId: string): Html => html`<p class="trail"><a
href="/console">Your agents</a> / <a href="${agentPath(agentId)}">Agent</a> / <a
href="${agentPath(agentId)}/memories">Memories</a></p>`

export const facts = (memory: Memory, now: number): Html =>
  html`<p class="dim">Version ${memory.version} · ${size(Buffer.byteLength(memory.text))} · written ${when(memory.updatedAt, now)} · created ${when(memory.createdAt, now)}</p>`

export const metadataOf = ({ metadata }: Memory): Html =>
  metadata === '{}'
    ? nothing
    : html`<h2>Metadata</h2><pre class="text" dir="auto">${metadata}</pre>`

export const memoryPage = endpoint({
  operationId: 'consoleMemory',
  method: 'GET',
  path: `${agentPath(':agent')}/memory`,
  params: ofAgent,
  guards: [...forOwner, ...costs('reads')],
  query: z.object({ key: memoryKey, saved: z.string().optional() }),
  errors: ['invalid_token', 'memory_not_found'],
  async handle({ call, session, identity, query: { key, saved } }, workspace: Workspace) {
    const memory = await findMemory(workspace, identity, key)
    return showPage(call, workspace.secure, {
      title: memory.key,
      session,
      body: html`${trail(identity.agentId)}
<h1 class="key">${memory.key}</h1>
${saved !== undefined ? html`<div class="note good" role="status"><p>Saved as version ${memory.version}.</p></div>` : nothing}
${facts(memory, workspace.clock())}
<pre class="text" dir="auto" tabindex="0" aria-label="Text">${memory.text}</pre>
${metadataOf(memory)}
<p class="actions"><a class="button" href="${memoryPath(identity.agentId, memory.key, '/edit')}">Edit</a></p>`,
    })
  },
})
