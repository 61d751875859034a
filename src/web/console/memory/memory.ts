/** /console/agents/<id>/memory?key=…: a memory next to the list, with its versions and actions. */
import { html } from 'hono/html'
import { z } from 'zod'
import { memoryKey } from '../../../home/schemas.ts'
import type { Answer } from '../../../http/call.ts'
import { queryInteger } from '../../../pipeline/schemas.ts'
import type { Memory, VersionSummary } from '../../../store/port/memories.ts'
import { hidden, refusalNote, type Typed, untouched } from '../../layout/fields.ts'
import { type Crumb, type Html, nothing } from '../../layout/page.ts'
import { agentPath, memoryPath } from '../../layout/paths.ts'
import { when } from '../../layout/words.ts'
import { eventWords } from '../agent/feed.ts'
import { clockOf } from '../agent/filters.ts'
import { byWhom } from '../author.ts'
import { agentPage } from '../endpoints.ts'
import { isPinned } from '../memories/found.ts'
import { oneButton, pinMark, protectedMark, showBeside } from '../memories/list-pane.ts'
import { type Listing, listingQuery, memoryIn } from '../memories/listing.ts'
import type { AgentVisit, Workspace } from '../workspace.ts'
import { orNothing } from './gone.ts'
import { history, type Place, pathOf, restoreForm } from './history.ts'
import { type Asked, findMemoryView, type MemoryView } from './memory-view.ts'
import { type As, metadataOf, textView } from './rendered.ts'

/** For the pages below a memory's own. */
export const crumbOf = (agentId: string, key: string, listing: Listing): Crumb => ({
  name: key,
  path: memoryIn(agentId, key, listing),
})

/** Who wrote the version that is shown, and when; and what it changed. */
function facts(place: Place, { version, updatedAt }: Memory, { listed, newest }: MemoryView): Html {
  const { now, me } = place
  const made = [newest, ...listed.versions].find((each) => each?.version === version)
  const who = made
    ? html`${byWhom(made.by, me)} <span class="dim">${eventWords[made.operation].toLowerCase()}</span> version ${version}`
    : html`Version ${version}`
  const path = `${pathOf(place)}&changes=${version}#v${version}`
  return html`<p class="written">${who} <span class="dim">${when(updatedAt, now)}</span> <a href="${path}">What changed</a></p>`
}

const content = (
  place: Place,
  memory: Memory,
  view: MemoryView,
  as: As,
): Html => html`${facts(place, memory, view)}
${textView(memory.text, as, `${pathOf(place)}${memory.version === place.currentVersion ? '' : `&version=${memory.version}`}`)}
${metadataOf(memory)}`

const change = (does: string, label: string, kind = 'quiet'): Html =>
  html`${hidden('back', 'memory')}<button name="do" class="${kind}" value="${does}">${label}</button>`

/** Copies the file, so byte for byte what was written, however it is shown. */
const copyButton = (file: string): Html =>
  html`<button type="button" class="quiet" data-copies-from="${file}" hidden>Copy</button>`

/** What is rarely done, behind one button; what cannot be undone is its last. */
function menu(place: Place, shown: Memory, isProtected: boolean, file: string): Html {
  const one = (button: Html) => oneButton(place.agentId, shown, place.listing, button)
  const [pin, pinWords] = isPinned(shown.metadata) ? ['unpin', 'Unpin'] : ['pin', 'Pin']
  const [protect, protectWords] = isProtected ? ['unprotect', 'Unprotect'] : ['protect', 'Protect']
  return html`<button type="button" class="quiet" popovertarget="more">More</button>
<div popover id="more" class="menu" role="group" aria-label="More">
${one(change(pin, pinWords))}
${one(change(protect, protectWords))}
<a class="button quiet" href="${pathOf(place, '/rename')}">Rename</a>
<a class="button quiet" href="${file}">Download</a>
${one(change('delete', 'Delete', 'danger'))}
<a class="button danger" href="${pathOf(place, '/erase')}">Erase for good…</a>
</div>`
}

function actions(place: Place, shown: Memory, isProtected: boolean): Html {
  const file = `${memoryPath(place.agentId, place.key, '/download')}&version=${shown.version}`
  if (shown.version !== place.currentVersion) {
    const button = html`<button>Restore version ${shown.version}</button>`
    const erase =
      place.currentVersion === 0
        ? html`<a class="button danger" href="${pathOf(place, '/erase')}">Erase for good…</a>`
        : nothing
    return html`${restoreForm(place, shown.version, button)}${copyButton(file)}<a class="button quiet" href="${file}">Download</a>${erase}`
  }
  return html`<a class="button" aria-keyshortcuts="e" href="${pathOf(place, '/edit')}">Edit</a>
${copyButton(file)}${menu(place, shown, isProtected, file)}`
}

/** `saved`: '', 'unchanged', or the version that was restored. `data-written`: forgets the draft. */
function savedNote({ version }: Memory, saved: string): Html {
  if (saved === 'unchanged')
    return html`<div class="note" role="status"><p>Nothing changed, so no new version was saved.</p></div>`
  const what = /^\d+$/.test(saved)
    ? `Restored version ${saved}. It is version ${version} now.`
    : `Saved as version ${version}.`
  return html`<div class="note good" role="status" data-written><p>${what}</p></div>`
}

const pastNote = (place: Place, { version }: Memory): Html =>
  html`<div class="note warn"><p>This is version ${version}. <a href="${pathOf(place)}">Version ${place.currentVersion}</a> is the current one.</p></div>`

/** `last`: the version that is the delete. */
const deletedNote = (last: VersionSummary, shown: Memory | undefined, { now, me }: Place): Html =>
  html`<div class="note warn" role="status"><p><strong>${byWhom(last.by, me)} deleted this memory ${when(last.createdAt, now)}.</strong> ${
    shown ? html`This is version ${shown.version}, as it was before.` : html`No text of it is kept.`
  }</p></div>`

function note(
  place: Place,
  { current, newest, shown }: MemoryView,
  saved: string | undefined,
): Html {
  if (!current) return newest ? deletedNote(newest, shown, place) : nothing
  if (shown && shown !== current) return pastNote(place, shown)
  return saved === undefined ? nothing : savedNote(current, saved)
}

function heading(place: Place, { current, shown, isProtected }: MemoryView): Html {
  const marks = html`${current && isPinned(current.metadata) ? pinMark : nothing}${isProtected ? protectedMark : nothing}`
  return html`<div class="titled"><div id="about"><h1 class="key">${place.key}</h1>${marks}</div>${
    shown ? html`<div class="doing">${actions(place, shown, isProtected)}</div>` : nothing
  }</div>`
}

interface Shown extends Asked {
  /** After a save, see `savedNote`. */
  readonly saved?: string | undefined
  readonly listing: Listing
  readonly as?: As
}

async function article(
  { call, identity, session }: AgentVisit,
  workspace: Workspace,
  asked: Shown,
  typed: Typed,
): Promise<Html> {
  const { key, saved, listing, as } = asked
  const { agentId } = identity
  const view = await findMemoryView(workspace, identity, asked)
  const { current, shown, listed } = view
  const currentVersion = current?.version ?? 0
  const me = session.email
  const [now, clock] = [workspace.clock(), clockOf(call)]
  const place = { agentId, key, listing, currentVersion, now, clock, me }
  return html`${refusalNote(typed)}
<div id="memory" data-live="waits">${heading(place, view)}
${note(place, view, saved)}
${shown ? content(place, shown, view, as) : nothing}</div>
${history(place, listed, view.change)}`
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
    changes: version,
    before: version,
    saved: z.string().optional(),
    as: z.literal('source').optional(),
  }),
  errors: ['version_not_found', 'version_gone', 'overloaded'],
  handle(visit, workspace) {
    const { key, version, changes, before, saved, as, ...listing } = visit.query
    const asked = { key, version, changes, before, saved, as, listing }
    return orNothing(visit, workspace, { key }, showMemory(visit, workspace, asked, untouched))
  },
})
