/** /console: the agents of the account. */
import { html } from 'hono/html'
import { z } from 'zod'
import { endpoint } from '../../../pipeline/endpoint.ts'
import type { OwnedAgent } from '../../../store/port/sessions.ts'
import { glyph } from '../../layout/glyphs.ts'
import { type Html, nothing, showPage } from '../../layout/page.ts'
import { statusMark } from '../../layout/parts.ts'
import { plural } from '../../layout/words.ts'
import { forSignedIn } from '../guards.ts'
import type { Workspace } from '../workspace.ts'

const AGENTS_PER_PAGE = 50

const card = ({ profile, memoryCount }: OwnedAgent): Html => html`<li>
<a class="card" href="/console/agents/${profile.agentId}">
<span class="crest">${glyph(profile.symbol)}</span>
<span class="grow"><strong dir="auto">${profile.name}</strong><br>
<span class="dim" dir="auto">${profile.purpose}</span></span>
<span class="end">${statusMark(profile.status)}<br>
<span class="dim">${plural(memoryCount, 'memory', 'memories')}</span></span>
</a>
</li>`

const list = (agents: readonly OwnedAgent[]): Html =>
  agents.length > 0
    ? html`<ul class="cards">${agents.map(card)}</ul>`
    : html`<p class="empty">No agent is in this account yet.</p>`

export const agentsPage = endpoint({
  operationId: 'consoleAgents',
  method: 'GET',
  path: '/console',
  guards: forSignedIn,
  query: z.object({ after: z.string().optional() }),
  async handle({ call, session, query }, { sessions, secure }: Workspace) {
    const page = { after: query.after, limit: AGENTS_PER_PAGE }
    const agents = await sessions.listAgents(session.accountId, page)
    const last = agents.length === AGENTS_PER_PAGE ? agents.at(-1) : undefined
    return showPage(call, secure, {
      title: 'Agents',
      session,
      place: 'agents',
      body: html`<h1>Agents</h1>
${list(agents)}
${last ? html`<p><a href="/console?after=${last.profile.agentId}">More agents</a></p>` : nothing}
<p class="actions"><a class="button" href="/console/birth">Create agent</a>
<a class="button quiet" href="/console/attach">Attach an agent</a></p>`,
    })
  },
})
