/** Pages for a memory that was deleted, erased or renamed: what happened, and what was typed. */
import { html } from 'hono/html'
import { Problem } from '../../../errors.ts'
import type { Answer } from '../../../http/call.ts'
import type { Fields } from '../../../http/form.ts'
import type { HomeEvent } from '../../../store/port/events.ts'
import type { Identity } from '../../../store/port/identity.ts'
import type { Typed } from '../../layout/fields.ts'
import type { Html } from '../../layout/page.ts'
import { memoryPath } from '../../layout/paths.ts'
import { when } from '../../layout/words.ts'
import { newestRuns } from '../agent/feed.ts'
import { byWhom } from '../author.ts'
import { showBeside } from '../memories/list-pane.ts'
import { everything, listingIn, listPath, memoryIn } from '../memories/listing.ts'
import type { AgentVisit, Workspace } from '../workspace.ts'
import { editor, meanwhile } from './editor.ts'

/** Of the memory, in which its end is looked for. */
const EVENTS = 20

/** The log outlives the versions. */
async function findEnd(workspace: Workspace, identity: Identity, key: string) {
  const { runs } = await newestRuns(workspace, identity, { key, rows: EVENTS })
  return runs
    .flatMap((run) => run.events)
    .find(
      ({ type, key: ofEvent, from }) =>
        from === key || (ofEvent === key && (type === 'delete' || type === 'erase')),
    )
}

function endWords(agentId: string, end: HomeEvent | undefined, now: number, me: string): Html {
  if (!end) return html`<strong>This key has no memory and no kept versions.</strong>`
  const { type, key = '', createdAt, by } = end
  const what =
    type === 'rename'
      ? html`Renamed to <a href="${memoryPath(agentId, key)}"><code>${key}</code></a>`
      : html`${type === 'erase' ? 'Erased' : 'Deleted'}`
  return html`<strong>${what} ${when(createdAt, now)}.</strong> ${byWhom(by, me)}.`
}

/** The heading, and what happened to the memory. */
async function told(
  { identity, session }: AgentVisit,
  workspace: Workspace,
  key: string,
  asked: string,
) {
  const end = await findEnd(workspace, identity, key)
  const words = endWords(identity.agentId, end, workspace.clock(), session.email)
  return html`<h1 class="key" id="about">${key}</h1>
<div class="note warn" role="alert"><p>${words} ${asked}</p></div>`
}

const UNSAVED =
  'What you wrote is below and is not saved yet. Create the memory again with it, or leave things as they are.'
const AGAIN = 'You can create it again here.'

/** With an editor to create it again. `typed`: the key, both texts, the list, and the refusal. */
export async function showGone(
  visit: AgentVisit,
  workspace: Workspace,
  typed: Typed,
): Promise<Answer> {
  const { agentId } = visit.identity
  const { key = '', list } = typed.values
  const listing = listingIn(list)
  const { refusal } = typed
  const values: Fields = { ...typed.values, expectedVersion: '0' }
  return showBeside(visit, workspace, {
    key,
    listing,
    title: key,
    status: refusal?.status ?? 404,
    scripts: ['bytes', 'draft', 'submit', 'later'],
    from: memoryIn(agentId, key, listing, '/edit'),
    article: html`${await told(visit, workspace, key, refusal ? UNSAVED : AGAIN)}
${meanwhile(key, 0)}${editor(agentId, { values, refusal }, { save: 'Create it again', leave: 'Leave it as it is' })}`,
  })
}

async function showNothing(visit: AgentVisit, workspace: Workspace, key: string): Promise<Answer> {
  const all = listPath(visit.identity.agentId, everything)
  return showBeside(visit, workspace, {
    key,
    listing: everything,
    title: key,
    status: 404,
    article: html`${await told(visit, workspace, key, '')}
<p class="actions"><a class="button quiet" href="${all}">To all memories</a></p>`,
  })
}

export const isGone = (error: unknown): boolean =>
  error instanceof Problem && error.code === 'memory_not_found'

/** Undefined if the memory is gone. */
export const unlessGone = <T>(found: Promise<T>): Promise<T | undefined> =>
  found.catch((error: unknown) => {
    if (!isGone(error)) throw error
    return undefined
  })

/** The page, or what happened to the memory if there is nothing to show. */
export const orNothing = (
  visit: AgentVisit,
  workspace: Workspace,
  { key = '' }: Fields,
  page: Promise<Answer>,
): Promise<Answer> => unlessGone(page).then((shown) => shown ?? showNothing(visit, workspace, key))
