/** An edit that came too late: both texts side by side, the difference marked, and the choice. */

import { html } from 'hono/html'
import { findMemory } from '../../../home/memories/memory.ts'
import type { Answer } from '../../../http/call.ts'
import type { Fields } from '../../../http/form.ts'
import type { Sent } from '../../../pipeline/guards/form.ts'
import type { Memory } from '../../../store/port/keeping/memories.ts'
import type { Html } from '../../layout/page.ts'
import { showAgentPage } from '../agent-page.ts'
import type { AgentVisit, Workspace } from '../workspace.ts'
import { type Difference, differences } from './difference.ts'
import { editor } from './editor.ts'
import { crumbOf, facts } from './memory.ts'

/** One side of the difference: what is only here is marked, what is only there is left out. */
const side = (parts: readonly Difference[], only: 'stored' | 'yours'): Html[] =>
  parts
    .filter(({ of }) => of === 'both' || of === only)
    .map(({ of, text }) =>
      of === 'both'
        ? html`${text}`
        : only === 'stored'
          ? html`<del>${text}</del>`
          : html`<ins>${text}</ins>`,
    )

function comparison(stored: Memory, sent: Fields, now: number): Html {
  const parts = differences(stored.text, (sent.text ?? '').replaceAll('\r\n', '\n'))
  return html`<div class="halves compare">
<section aria-labelledby="stored"><h2 id="stored">Stored now</h2>${facts(stored, now)}
<pre class="text" dir="auto" tabindex="0" aria-labelledby="stored">${side(parts, 'stored')}</pre></section>
<section aria-labelledby="yours"><h2 id="yours">Yours</h2><p class="dim">Based on version ${sent.expectedVersion ?? ''}, not saved.</p>
<pre class="text" dir="auto" tabindex="0" aria-labelledby="yours">${side(parts, 'yours')}</pre></section>
</div>`
}

export async function showConflict(
  visit: AgentVisit & Sent,
  workspace: Workspace,
): Promise<Answer> {
  const { identity, sent } = visit
  const { agentId } = identity
  const stored = await findMemory(workspace, identity, sent.key ?? '')
  const values = { ...sent, expectedVersion: String(stored.version) }
  return showAgentPage(visit, workspace, {
    tab: 'memories',
    title: `Conflict in ${stored.key}`,
    trail: [crumbOf(agentId, stored.key)],
    here: 'Conflict',
    status: 409,
    scripts: ['bytes'],
    body: html`<h1 class="key">${stored.key}</h1>
<div class="note warn" role="alert"><p><strong>The memory was written in the meantime.</strong> Nothing of yours is saved yet. Compare the two, then choose.</p></div>
${comparison(stored, sent, workspace.clock())}
<h2>Your text, to save or to change first</h2>
${editor(agentId, { values }, `Save this over version ${stored.version}`, 'Keep what is stored')}`,
  })
}
