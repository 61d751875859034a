/** /console/agents/<id>/memories: all that an agent remembers, looked through, sorted and chosen from. */
import { html } from 'hono/html'
import { z } from 'zod'
import type { Problem } from '../../../errors.ts'
import type { Answer } from '../../../http/call.ts'
import { endpoint } from '../../../pipeline/endpoint.ts'
import type { Sent } from '../../../pipeline/guards/form.ts'
import { refusalNote, type Typed, untouched } from '../../layout/fields.ts'
import { type Html, nothing } from '../../layout/page.ts'
import { note } from '../../layout/parts.ts'
import { agentPath } from '../../layout/paths.ts'
import { findAgent, showAgentPage } from '../agent-page.ts'
import { costs, forOwner, ofAgent } from '../guards.ts'
import type { AgentVisit, Workspace } from '../workspace.ts'
import { findMemories } from './found.ts'
import { finder, list, newButton } from './list-pane.ts'
import { type Listing, listingIn, listingQuery } from './listing.ts'
import { deletedIn, undoNote } from './undo-note.ts'

const NONE_CHOSEN = 'Select at least one memory first.'

const refused = (typed: Typed): Html =>
  typed.refusal?.code === 'invalid_body'
    ? note('bad', html`<p>${NONE_CHOSEN}</p>`)
    : refusalNote(typed)

interface Shown {
  readonly listing: Listing
  readonly typed?: Typed
  /** What was deleted just now, as the address says it. */
  readonly deleted?: string | undefined
}

/** The page, also shown again by what refuses to change several. */
export async function showMemories(
  visit: AgentVisit,
  workspace: Workspace,
  { listing, typed = untouched, deleted }: Shown,
): Promise<Answer> {
  const { identity } = visit
  const { agentId } = identity
  const [agent, found] = await Promise.all([
    findAgent(workspace, identity),
    findMemories(visit, workspace, listing),
  ])
  const pane = { agentId, listing, found, count: agent.memoryCount, now: workspace.clock() }
  const gone = deletedIn(deleted)
  return showAgentPage(visit, workspace, {
    tab: 'memories',
    title: 'Memories',
    status: typed.refusal?.status ?? 200,
    scripts: ['find', 'submit'],
    agent,
    wide: true,
    body: html`<div class="headed"><h1>Memories</h1>${newButton(agentId, listing)}</div>
${refused(typed)}
${gone.length > 0 ? undoNote(agentId, gone, listing) : nothing}
<div class="whole-list">${finder(agentId, listing)}
${list(pane)}</div>`,
  })
}

/** The same, for a form that comes from a list. */
export const showListAgain = (
  visit: AgentVisit & Sent,
  workspace: Workspace,
  refusal: Problem,
): Promise<Answer> =>
  showMemories(visit, workspace, {
    listing: listingIn(visit.sent.list),
    typed: { values: {}, refusal },
  })

export const memoriesPage = endpoint({
  operationId: 'consoleMemories',
  method: 'GET',
  path: `${agentPath(':agent')}/memories`,
  params: ofAgent,
  guards: [...forOwner, ...costs('reads')],
  query: listingQuery.extend({ deleted: z.string().optional() }),
  errors: ['invalid_token', 'overloaded'],
  handle: (visit, workspace: Workspace) => {
    const { deleted, ...listing } = visit.query
    return showMemories(visit, workspace, { listing, deleted })
  },
})
