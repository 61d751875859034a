/** An edit that came too late: what fits together is merged, the rest is chosen part by part. */

import { html } from 'hono/html'
import type { Problem } from '../../../errors.ts'
import type { Answer } from '../../../http/call.ts'
import type { Fields } from '../../../http/form.ts'
import type { Sent } from '../../../pipeline/guards/form.ts'
import { hidden, refusalNote, type Typed, untouched } from '../../layout/fields.ts'
import { type Html, nothing } from '../../layout/page.ts'
import { agentPath } from '../../layout/paths.ts'
import { when } from '../../layout/words.ts'
import { showBeside } from '../memories/beside.ts'
import { listField } from '../memories/list-pane.ts'
import { type Listing, listingIn, memoryIn, queryOf } from '../memories/listing.ts'
import type { AgentVisit, Workspace } from '../workspace.ts'
import { editor } from './editor.ts'
import { showGone, unlessGone } from './gone.ts'
import { meanwhile } from './meanwhile.ts'
import { crumbOf } from './memory.ts'
import { choices } from './merge/choices.ts'
import { type Decided, decide } from './merge/decide.ts'
import { withLineFeeds } from './merge/line-ends.ts'
import { findSides, isDisputed, type Merged, mergedSides, type Sides } from './merge/sides.ts'
import { changeView } from './versions/change-view.ts'

const KEEP = 'Keep what is stored'

const happened = ({ theirs, base }: Sides, now: number): Html =>
  html`<strong>Version ${theirs.version} was written ${when(theirs.updatedAt, now)}${
    base ? html`, after the version ${base.version} that you began with` : nothing
  }.</strong> Nothing of yours is saved yet.`

/** What the sides were compared with, where that is less than three. */
const known = ({ base }: Sides): Html =>
  base
    ? html`What only one of you changed is merged already.`
    : html`No version that both began with is kept, so every difference is yours to choose about.`

const conflictNote = (sides: Sides, now: number, asked: string): Html =>
  html`<div class="note warn" role="alert"><p>${happened(sides, now)} ${known(sides)} ${asked}</p></div>`

const carried = ({ key, base, theirs, yours }: Sides, listing: Listing): Html =>
  html`${hidden('key', key)}${listField(listing)}${hidden('base', base?.version ?? '')}${hidden('theirs', theirs.version)}
${hidden('text', yours.text)}${hidden('metadata', yours.metadata)}`

/** Whose memory it is, and the list beside it. */
interface Place {
  readonly agentId: string
  readonly listing: Listing
}

const placeOf = ({ identity, sent }: AgentVisit & Sent): Place => ({
  agentId: identity.agentId,
  listing: listingIn(sent.list),
})

const chooser = (
  { agentId, listing }: Place,
  sides: Sides,
  merged: Merged,
  typed: Typed,
): Html => html`<form
method="post" action="${agentPath(agentId)}/memory/resolve" class="disputes">
${carried(sides, listing)}
${choices(merged, typed)}
<p class="actions"><button>Save what I chose</button>
<button class="quiet" name="next" value="edit">Look at the whole text first</button>
<a class="button quiet" href="${memoryIn(agentId, sides.key, listing)}">${KEEP}</a></p>
</form>`

function show(
  visit: AgentVisit & Sent,
  workspace: Workspace,
  { key, theirs }: Sides,
  status: number,
  body: Html,
): Promise<Answer> {
  const { agentId, listing } = placeOf(visit)
  return showBeside(visit, workspace, {
    key,
    listing,
    title: `Conflict in ${key}`,
    trail: [crumbOf(agentId, key, listing)],
    here: 'Conflict',
    status,
    scripts: ['bytes', 'later'],
    from: memoryIn(agentId, key, listing),
    article: html`<h1 class="key" id="about">${key}</h1>
${meanwhile(key, theirs.version)}
${body}`,
  })
}

function editorOf({ agentId, listing }: Place, { key, theirs }: Sides, decided: Decided): Html {
  const list = queryOf(listing)
  const values: Fields = { key, ...decided, expectedVersion: String(theirs.version), list }
  return html`${editor(agentId, { values }, `Save over version ${theirs.version}`, KEEP)}
<section aria-labelledby="would"><h2 id="would">What this changes in what is stored</h2>
${changeView(withLineFeeds(theirs.text), decided.text)}</section>`
}

/** The whole text once it is decided, to be looked over and saved. */
export const showDecided = (
  visit: AgentVisit & Sent,
  workspace: Workspace,
  sides: Sides,
  decided: Decided,
): Promise<Answer> =>
  show(
    visit,
    workspace,
    sides,
    200,
    html`<div class="note good" role="status"><p>This is the text as you chose it. It is not saved yet.</p></div>
${editorOf(placeOf(visit), sides, decided)}`,
  )

/** The sides with what was typed about them; `refusal` says what was wrong with that. */
export function showSides(
  visit: AgentVisit & Sent,
  workspace: Workspace,
  sides: Sides,
  typed: Typed,
): Promise<Answer> {
  const place = placeOf(visit)
  const merged = mergedSides(sides)
  const said = (asked: string) => conflictNote(sides, workspace.clock(), asked)
  const body = isDisputed(merged)
    ? html`${typed.refusal ? refusalNote(typed) : said('Choose about the rest.')}
${chooser(place, sides, merged, typed)}`
    : html`${said('Nothing overlaps: look it over, and save.')}
${editorOf(place, sides, decide(merged, {}))}`
  return show(visit, workspace, sides, typed.refusal?.status ?? 409, body)
}

/** After an edit, or after choosing, with what is stored by now. */
export async function showConflict(
  visit: AgentVisit & Sent,
  workspace: Workspace,
  refusal: Problem,
): Promise<Answer> {
  const { key = '', text = '', metadata = '', list = '', expectedVersion } = visit.sent
  // Who brings back an earlier version edited nothing: it has no base but itself.
  const base = visit.sent.version === undefined ? expectedVersion : undefined
  const typed = { key, text, metadata, list }
  const asked = { ...typed, base: base ?? '' }
  const sides = await unlessGone(findSides(workspace, visit.identity, asked))
  return sides
    ? showSides(visit, workspace, sides, untouched)
    : showGone(visit, workspace, { values: typed, refusal })
}
