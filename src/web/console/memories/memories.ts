/** /console/agents/<id>/memories: the list of an agent's memories, with search, filters and selection. */
import { html } from 'hono/html'
import { z } from 'zod'
import type { Problem } from '../../../errors.ts'
import type { Answer } from '../../../http/call.ts'
import type { Sent } from '../../../pipeline/guards/form.ts'
import { hidden, refusalNote, type Typed, untouched } from '../../layout/fields.ts'
import { type Html, nothing } from '../../layout/page.ts'
import { note } from '../../layout/parts.ts'
import { agentPath } from '../../layout/paths.ts'
import { plural } from '../../layout/words.ts'
import { showAgentPage } from '../agent-page.ts'
import { agentPage } from '../endpoints.ts'
import type { AgentVisit, Workspace } from '../workspace.ts'
import type { Chosen } from './chosen.ts'
import { finder, findPane, list, newButton } from './list-pane.ts'
import { deletedPath, type Listing, listingIn, listingQuery, listPath, queryOf } from './listing.ts'

/** Named in an address, to be undone at once. */
const UNDONE_AT_ONCE = 100

const DELETED = /^([\w.-]{1,100})~(\d{1,15})$/

/** The list, with a note that undoes the deletion; after many, the page of what was deleted. */
export function afterDelete(agentId: string, gone: readonly Chosen[], listing: Listing): string {
  if (gone.length > UNDONE_AT_ONCE) return deletedPath(agentId)
  const path = listPath(agentId, listing)
  const deleted = gone.map(({ key, version }) => `${key}~${version}`).join(',')
  return `${path}${path.includes('?') ? '&' : '?'}deleted=${deleted}`
}

/** Reads the query of `afterDelete`. */
const deletedIn = (deleted = ''): readonly Chosen[] =>
  deleted.split(',').flatMap((each) => {
    const [, key, version] = DELETED.exec(each) ?? []
    return key && version ? [{ key, version: Number(version) }] : []
  })

const named = (gone: readonly Chosen[]): Html =>
  gone.length === 1
    ? html`<code>${gone[0]?.key}</code>`
    : html`${plural(gone.length, 'memory', 'memories')}`

const undoNote = (agentId: string, gone: readonly Chosen[], listing: Listing): Html =>
  note(
    'good',
    html`<form method="post" action="${agentPath(agentId)}/memories/undo" class="undo">
<p>Deleted ${named(gone)}. The versions are kept: you and the agent can restore them.</p>
${gone.map(({ key, version }) => hidden(`memory.${key}`, version))}${hidden('list', queryOf(listing))}
<button class="quiet">Undo</button></form>`,
  )

const NONE_CHOSEN = 'Select at least one memory first.'

const refused = (typed: Typed): Html =>
  typed.refusal?.code === 'invalid_body'
    ? note('bad', html`<p>${NONE_CHOSEN}</p>`)
    : refusalNote(typed)

interface Shown {
  readonly listing: Listing
  readonly typed?: Typed
  /** The memories that were just deleted, from the query. */
  readonly deleted?: string | undefined
}

/** The page, also with the errors of its forms. */
async function showMemories(
  visit: AgentVisit,
  workspace: Workspace,
  { listing, typed = untouched, deleted }: Shown,
): Promise<Answer> {
  const { agentId } = visit.identity
  const { agent, pane } = await findPane(visit, workspace, listing)
  const gone = deletedIn(deleted)
  return showAgentPage(visit, workspace, {
    tab: 'memories',
    title: 'Memories',
    status: typed.refusal?.status ?? 200,
    scripts: ['find', 'submit'],
    agent,
    body: html`<h1 class="away">Memories</h1>
${refused(typed)}
${gone.length > 0 ? undoNote(agentId, gone, listing) : nothing}
<div class="whole-list">${finder(agentId, listing, newButton(agentId, listing))}
${list(pane)}</div>`,
  })
}

/** The list again, for a form on it that was refused. */
export const showListAgain = (
  visit: AgentVisit & Sent,
  workspace: Workspace,
  refusal: Problem,
): Promise<Answer> =>
  showMemories(visit, workspace, {
    listing: listingIn(visit.sent.list),
    typed: { values: {}, refusal },
  })

export const memoriesPage = agentPage({
  operationId: 'consoleMemories',
  path: `${agentPath(':agent')}/memories`,
  query: listingQuery.extend({ deleted: z.string().optional() }),
  errors: ['overloaded'],
  handle(visit, workspace) {
    const { deleted, ...listing } = visit.query
    return showMemories(visit, workspace, { listing, deleted })
  },
})
