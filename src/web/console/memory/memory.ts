/** /console/agents/<id>/memory?key=…: a memory next to the list, with its versions and actions. */
import { html } from 'hono/html'
import { z } from 'zod'
import { memoryKey } from '../../../home/schemas.ts'
import type { Answer } from '../../../http/call.ts'
import { queryInteger } from '../../../pipeline/schemas.ts'
import type { Memory, VersionSummary } from '../../../store/port/keeping/memories.ts'
import { hidden, refusalNote, type Typed, untouched } from '../../layout/fields.ts'
import { type Crumb, type Html, nothing } from '../../layout/page.ts'
import { agentPath, memoryPath } from '../../layout/paths.ts'
import { size, when } from '../../layout/words.ts'
import { byWhom } from '../author.ts'
import { agentPage } from '../endpoints.ts'
import { isPinned } from '../memories/found.ts'
import { oneButton, pinMark, protectedMark, showBeside } from '../memories/list-pane.ts'
import { type Listing, listingQuery, memoryIn } from '../memories/listing.ts'
import type { AgentVisit, Workspace } from '../workspace.ts'
import { orNothing } from './gone.ts'
import { bringBack, history, type Place } from './history.ts'
import { type Asked, findMemoryView, type MemoryView } from './memory-view.ts'
import { type As, metadataOf, textView } from './rendered.ts'

/** For the pages below a memory's own. */
export const crumbOf = (agentId: string, key: string, listing: Listing): Crumb => ({
  name: key,
  path: memoryIn(agentId, key, listing),
})

export const facts = (memory: Memory, now: number): Html =>
  html`<p class="dim">Version ${memory.version} · ${size(Buffer.byteLength(memory.text))} · written ${when(memory.updatedAt, now)} · created ${when(memory.createdAt, now)}</p>`

const pathOf = ({ agentId, key, listing, currentVersion }: Place, { version }: Memory): string =>
  `${memoryIn(agentId, key, listing)}${version === currentVersion ? '' : `&version=${version}`}`

const content = (place: Place, memory: Memory, as: As): Html => html`${facts(memory, place.now)}
${textView(memory.text, as, pathOf(place, memory))}
${metadataOf(memory)}`

const pinButton = ({ metadata }: Memory): Html =>
  html`${hidden('back', 'memory')}<button name="do" class="quiet" value="${isPinned(metadata) ? 'unpin' : 'pin'}">${isPinned(metadata) ? 'Unpin' : 'Pin'}</button>`

const protectButton = (isProtected: boolean): Html =>
  html`${hidden('back', 'memory')}<button name="do" class="quiet" value="${isProtected ? 'unprotect' : 'protect'}">${isProtected ? 'Unprotect' : 'Protect'}</button>`

const deleteButton = html`<button name="do" class="danger" value="delete">Delete</button>`

/** Copies the file, so byte for byte what was written, however it is shown. */
function takeButtons({ agentId, key }: Place, { version }: Memory): Html {
  const file = `${memoryPath(agentId, key, '/download')}&version=${version}`
  return html`<button type="button" class="quiet" data-copies-from="${file}" hidden>Copy</button>
<a class="button quiet" href="${file}">Download</a>`
}

const actions = (place: Place, shown: Memory, isProtected: boolean): Html => {
  const { agentId, key, listing } = place
  return html`<div class="actions doing"><a class="button" href="${memoryIn(agentId, key, listing, '/edit')}">Edit</a>
${takeButtons(place, shown)}
${oneButton(agentId, shown, listing, pinButton(shown))}
${oneButton(agentId, shown, listing, protectButton(isProtected))}
<a class="button quiet" href="${memoryIn(agentId, key, listing, '/rename')}">Rename</a>
<a class="button quiet" href="#versions">History</a>
${oneButton(agentId, shown, listing, deleteButton)}</div>`
}

/** The current version, or an earlier one. */
function shownMemory(place: Place, shown: Memory, isProtected: boolean, as: As): Html {
  if (shown.version === place.currentVersion)
    return html`${actions(place, shown, isProtected)}${content(place, shown, as)}`
  const button = html`<button>Bring back version ${shown.version}</button>`
  return html`<div class="actions doing">${bringBack(place, shown.version, button)}
${takeButtons(place, shown)}</div>${content(place, shown, as)}`
}

/** `data-written` lets the script forget the draft. */
const savedNote = ({ version }: Memory, saved: string): Html =>
  saved === 'unchanged'
    ? html`<div class="note" role="status"><p>Nothing was changed, so no version was made.</p></div>`
    : html`<div class="note good" role="status" data-written><p>Saved as version ${version}.</p></div>`

const pastNote = ({ agentId, key, listing, currentVersion }: Place, { version }: Memory): Html =>
  html`<div class="note warn"><p>This is version ${version} as it was. <a href="${memoryIn(agentId, key, listing)}">Version ${currentVersion}</a> is stored now.</p></div>`

/** `last`: the version that is the delete. */
const deletedNote = (last: VersionSummary, shown: Memory | undefined, now: number): Html =>
  html`<div class="note warn" role="status"><p><strong>This memory was deleted ${when(last.createdAt, now)}.</strong> ${byWhom(last.by)}. ${
    shown ? html`This is version ${shown.version}, as it was before.` : html`No text of it is kept.`
  }</p></div>`

function note(
  place: Place,
  { current, newest, shown }: MemoryView,
  saved: string | undefined,
): Html {
  if (!current) return newest ? deletedNote(newest, shown, place.now) : nothing
  if (shown && shown !== current) return pastNote(place, shown)
  return saved === undefined ? nothing : savedNote(current, saved)
}

const heading = ({ key }: Place, { current, isProtected }: MemoryView): Html =>
  html`<h1 class="key">${key}</h1>${current && isPinned(current.metadata) ? pinMark : nothing}${isProtected ? protectedMark : nothing}`

interface Shown extends Asked {
  /** After a save: '' or 'unchanged'. */
  readonly saved?: string | undefined
  readonly listing: Listing
  readonly as?: As
}

async function article(
  { identity }: AgentVisit,
  workspace: Workspace,
  asked: Shown,
  typed: Typed,
): Promise<Html> {
  const { key, saved, listing, as } = asked
  const { agentId } = identity
  const view = await findMemoryView(workspace, identity, asked)
  const { current, isProtected, shown, listed } = view
  const currentVersion = current?.version ?? 0
  const place = { agentId, key, listing, currentVersion, now: workspace.clock() }
  return html`${refusalNote(typed)}
<div id="memory" data-live><div class="titled" id="about">${heading(place, view)}</div>
${note(place, view, saved)}
${shown ? shownMemory(place, shown, isProtected, as) : nothing}</div>
${history(place, listed)}`
}

/** The page, also with the errors of its forms. */
export function showMemory(
  visit: AgentVisit,
  workspace: Workspace,
  asked: Shown,
  typed: Typed,
): Promise<Answer> {
  const { key, listing } = asked
  return showBeside(visit, workspace, {
    key,
    listing,
    title: key,
    status: typed.refusal?.status ?? 200,
    scripts: ['copy', 'submit', 'draft'],
    article: article(visit, workspace, asked, typed),
  })
}

const version = queryInteger({ minimum: 1 }).optional()

export const memoryPage = agentPage({
  operationId: 'consoleMemory',
  path: `${agentPath(':agent')}/memory`,
  query: listingQuery.extend({
    key: memoryKey,
    version,
    before: version,
    saved: z.string().optional(),
    as: z.literal('source').optional(),
  }),
  errors: ['version_not_found', 'version_gone', 'overloaded'],
  handle(visit, workspace) {
    const { key, version, before, saved, as, ...listing } = visit.query
    const asked = { key, version, before, saved, as, listing }
    return orNothing(visit, workspace, { key }, showMemory(visit, workspace, asked, untouched))
  },
})
