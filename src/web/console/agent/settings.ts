/** /console/agents/<id>/settings: who the agent is, what one can leave with, and the end of it. */
import { html } from 'hono/html'
import { endpoint } from '../../../pipeline/endpoint.ts'
import type { Profile } from '../../../store/port/home.ts'
import { symbols } from '../../../symbols.ts'
import { glyph } from '../../layout/glyphs.ts'
import type { Html } from '../../layout/page.ts'
import { agentPath } from '../../layout/paths.ts'
import { when } from '../../layout/words.ts'
import { findAgent, showAgentPage, tabPath } from '../agent-page.ts'
import { forOwner, ofAgent } from '../guards.ts'
import type { Workspace } from '../workspace.ts'

const symbolName = (id: string): string => symbols.find((each) => each.id === id)?.name.en ?? id

const about = ({ agentId, name, purpose, symbol, createdAt }: Profile, now: number): Html => html`
<dl class="facts">
<dt>Name</dt><dd dir="auto">${name}</dd>
<dt>Purpose</dt><dd dir="auto">${purpose}</dd>
<dt>Symbol</dt><dd>${glyph(symbol)} ${symbolName(symbol)}</dd>
<dt>Created</dt><dd>${when(createdAt, now)}</dd>
<dt>Id</dt><dd><code>${agentId}</code></dd>
</dl>`

const leaving = (path: string): Html => html`<section aria-labelledby="leave">
<h2 id="leave">Take it with you</h2>
<p>All memories and the profile in one file, or on one page to read and to print.</p>
<p class="actions"><a class="button quiet" href="${path}/export" download>Download the export</a>
<a class="button quiet" href="${path}/print">Read everything on one page</a></p>
</section>`

const ending = (path: string): Html => html`<section aria-labelledby="end">
<h2 id="end">Erase</h2>
<p>The agent with everything that it remembers, gone for good. You are asked once more.</p>
<p class="actions"><a class="button danger" href="${path}/erase">Erase the agent</a></p>
</section>`

export const settingsPage = endpoint({
  operationId: 'consoleSettings',
  method: 'GET',
  path: tabPath(':agent', 'settings'),
  params: ofAgent,
  guards: forOwner,
  errors: ['invalid_token'],
  async handle(visit, workspace: Workspace) {
    const agent = await findAgent(workspace, visit.identity)
    const path = agentPath(visit.identity.agentId)
    return showAgentPage(visit, workspace, {
      agent,
      tab: 'settings',
      title: 'Settings',
      body: html`<div class="narrow"><h1>Settings</h1>
${about(agent.profile, workspace.clock())}
${leaving(path)}
${ending(path)}</div>`,
    })
  },
})
