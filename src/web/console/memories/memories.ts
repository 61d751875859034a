/** /console/agents/<id>/memories: the list of an agent's memories, with search, filters and selection. */
import { html } from 'hono/html'
import { z } from 'zod'
import type { Problem } from '../../../errors.ts'
import { type Answer, redirect } from '../../../http/call.ts'
import type { Sent } from '../../../pipeline/guards/form.ts'
import { noteRefusal } from '../../../pipeline/problem.ts'
import { hidden, refusalNote, type Typed, untouched } from '../../layout/fields.ts'
import { type Html, nothing } from '../../layout/page.ts'
import { note } from '../../layout/parts.ts'
import { agentPath } from '../../layout/paths.ts'
import { plural } from '../../layout/words.ts'
import { showAgentPage } from '../agent-page.ts'
import { agentPage } from '../endpoints.ts'
import type { AgentVisit, Workspace } from '../workspace.ts'
import { actionIn, actionNote, didPath, type Known } from './action.ts'
import type { Chosen } from './chosen.ts'
import { finder, findPane, list, newButton } from './list-pane.ts'
import { type Listing, listingIn, listingQuery, listPath, queryOf } from './listing.ts'

const DELETED = /^([\w.-]{1,100})~(\d{1,15})$/

/** The list, with a note that undoes the deletion of these few. */
export function afterDelete(agentId: string, gone: readonly Chosen[], listing: Listing): string {
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
const NONE_MATCHES = 'No memory matches.'

const refused = (typed: Typed): Html =>
  typed.refusal?.code === 'invalid_body'
    ? note('bad', html`<p>${typed.values.all === 'yes' ? NONE_MATCHES : NONE_CHOSEN}</p>`)
    : refusalNote(typed)

interface Shown {
  readonly listing: Listing
  readonly typed?: Typed
  /** The memories that were just deleted, from the query. */
  readonly deleted?: string | undefined
  /** What was just done with many. */
  readonly done?: Known | undefined
}

/** The page, also with the errors of its forms. */
async function showMemories(
  visit: AgentVisit,
  workspace: Workspace,
  { listing, typed = untouched, deleted, done }: Shown,
): Promise<Answer> {
  const { agentId } = visit.identity
  const { agent, pane } = await findPane(visit, workspace, listing)
  const gone = deletedIn(deleted)
  return showAgentPage(visit, workspace, {
    tab: 'memories',
    title: 'Memories',
    status: (typed.refusal ?? done?.outcome.stopped)?.status ?? 200,
    scripts: ['find', 'submit'],
    agent,
    body: html`<h1 class="away">Memories</h1>
${refused(typed)}
${gone.length > 0 ? undoNote(agentId, gone, listing) : nothing}${done ? actionNote(visit, done, listing) : nothing}
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
    typed: { values: visit.sent, refusal },
  })

/** The list, which says what was done: at its own address, unless something was not. */
export async function showDone(
  visit: AgentVisit & Sent,
  workspace: Workspace,
  done: Known,
): Promise<Answer> {
  const { call, sent } = visit
  const { left, stopped } = done.outcome
  const listing = listingIn(sent.list)
  if (stopped) noteRefusal(call, stopped)
  return left > 0 || stopped
    ? showMemories(visit, workspace, { listing, done })
    : redirect(call, didPath(visit, done, listing))
}

export const memoriesPage = agentPage({
  operationId: 'consoleMemories',
  path: `${agentPath(':agent')}/memories`,
  query: listingQuery.extend({ deleted: z.string().optional(), did: z.string().optional() }),
  errors: ['overloaded'],
  handle(visit, workspace) {
    const { deleted, did, ...listing } = visit.query
    return showMemories(visit, workspace, { listing, deleted, done: actionIn(visit, did) })
  },
})
