/** A page about one memory, with the list on which it was found at its side. */
import { html } from 'hono/html'
import type { Answer } from '../../../http/call.ts'
import type { Html } from '../../layout/page.ts'
import { type AgentPage, findAgent, showAgentPage } from '../agent-page.ts'
import type { AgentVisit, Workspace } from '../workspace.ts'
import { findMemories } from './found.ts'
import { finder, list, newButton, type Pane } from './list-pane.ts'
import { type Listing, listPath } from './listing.ts'

interface Beside extends Omit<AgentPage, 'tab' | 'body' | 'agent' | 'wide'> {
  /** '' of a new one. */
  readonly key: string
  readonly listing: Listing
  /** Its heading has the id `about`. */
  readonly article: Html | Promise<Html>
}

const aside = (pane: Pane): Html => html`<section class="beside" aria-label="Memories">
<div class="headed"><h2><a href="${listPath(pane.agentId, pane.listing)}">Memories</a></h2>${newButton(pane.agentId, pane.listing, true)}</div>
${finder(pane.agentId, pane.listing)}
${list(pane)}
</section>`

/** Side by side where there is room; else the way to the list stands above. */
export async function showBeside(
  visit: AgentVisit,
  workspace: Workspace,
  { key, listing, article, scripts = [], ...page }: Beside,
): Promise<Answer> {
  const { identity } = visit
  const { agentId } = identity
  const [shown, agent, found] = await Promise.all([
    article,
    findAgent(workspace, identity),
    findMemories(visit, workspace, listing),
  ])
  const count = agent.memoryCount
  const pane = { agentId, listing, found, count, now: workspace.clock(), current: key }
  return showAgentPage(visit, workspace, {
    ...page,
    tab: 'memories',
    agent,
    wide: true,
    scripts: [...scripts, 'find'],
    body: html`<div class="split"><article class="reading" aria-labelledby="about">
<p class="to-list"><a href="${listPath(agentId, listing)}">All memories</a></p>
${shown}</article>
${aside(pane)}</div>`,
  })
}
