/** A conflict: both sides are merged, and the operator decides about each remaining difference. */
import { html } from 'hono/html'
import { z } from 'zod'
import type { Problem } from '../../../errors.ts'
import { saveMemory } from '../../../home/memories/memory.ts'
import { memoryKey } from '../../../home/schemas.ts'
import { type Answer, redirect } from '../../../http/call.ts'
import type { Fields } from '../../../http/form.ts'
import { parseStrictJson } from '../../../http/json.ts'
import { type Disputed, lineEndsOf, type Part, withLineFeeds } from '../../../merge-lines.ts'
import { validateBody } from '../../../pipeline/validate.ts'
import { faultNote, hidden, refusalNote, type Typed, untouched } from '../../layout/fields.ts'
import { type Html, nothing } from '../../layout/page.ts'
import { agentPath } from '../../layout/paths.ts'
import { when } from '../../layout/words.ts'
import { agentForm, type SentVisit } from '../endpoints.ts'
import { listField, showBeside } from '../memories/list-pane.ts'
import { type Listing, listingIn, memoryIn, queryOf } from '../memories/listing.ts'
import type { Workspace } from '../workspace.ts'
import { changeView, type Difference, differences, fold, unchanged } from './changes.ts'
import { editor, meanwhile, SAVE_ERRORS, savedPath, writeIn } from './editor.ts'
import { isGone, showGone, unlessGone } from './gone.ts'
import { crumbOf } from './memory.ts'
import {
  type Decided,
  decide,
  disputedMembers,
  disputedParts,
  findSides,
  isDisputed,
  type Member,
  type Merged,
  memberField,
  mergedSides,
  ownField,
  partField,
  type Sides,
} from './merge.ts'

/** One side of the difference: its own parts are marked, the other side's are left out. */
const side = (parts: readonly Difference[], only: 'stored' | 'yours'): Html[] =>
  parts
    .filter(({ of }) => of === 'both' || of === only)
    .map(({ of, text }) => (of === 'both' ? html`${text}` : html`<mark>${text}</mark>`))

interface Choice {
  readonly field: string
  readonly value: string
  readonly label: string
  /** Shown below the label. */
  readonly content?: Html
}

const radio = ({ field, value, label, content = nothing }: Choice, sent: Fields): Html =>
  html`<div class="option"><div class="check">
<input type="radio" id="${field}-${value}" name="${field}" value="${value}" required${
    sent[field] === value ? html` checked` : nothing
  }><label for="${field}-${value}">${label}</label></div>${content}</div>`

const shown = (id: string, content: Html | Html[], empty: boolean): Html =>
  empty
    ? html`<p class="dim" id="${id}">Nothing is here.</p>`
    : html`<pre class="text" dir="auto" tabindex="0" id="${id}" aria-label="The text of this choice">${content}</pre>`

const before = (base: string | undefined): Html =>
  base === undefined
    ? nothing
    : html`<details><summary>As it was before both</summary>${shown('', html`${base}`, base === '')}</details>`

const ownText = (field: string, yours: string, sent: Fields): Html => {
  const own = ownField(field)
  const text = sent[own] ?? yours
  return html`<textarea name="${own}" rows="${Math.min(12, Math.max(3, text.split('\n').length))}" spellcheck="false" autocomplete="off" aria-label="Written by hand" dir="auto">
${text}</textarea>`
}

function partChoice(
  { base, theirs, yours }: Disputed,
  at: number,
  all: number,
  typed: Typed,
): Html {
  const field = partField(at)
  const sent = typed.values
  const words = differences(theirs, yours)
  const legend = all === 1 ? 'The difference' : `Difference ${at + 1} of ${all}`
  return html`<fieldset class="dispute"><legend>${legend}</legend>
${faultNote(field, typed)}
<div class="sides">
${radio({ field, value: 'theirs', label: 'What is stored now', content: shown(`${field}-a`, side(words, 'stored'), theirs === '') }, sent)}
${radio({ field, value: 'yours', label: 'Yours', content: shown(`${field}-b`, side(words, 'yours'), yours === '') }, sent)}
</div>
${before(base)}
${radio({ field, value: 'both', label: 'Both: what is stored, then yours' }, sent)}
${radio({ field, value: 'own', label: 'Edit by hand', content: ownText(field, yours, sent) }, sent)}
</fieldset>`
}

const value = (json: string | undefined): Html =>
  json === undefined
    ? html`<p class="dim">Left out.</p>`
    : html`<pre class="text" dir="auto">${json}</pre>`

function memberChoice({ name, base, theirs, yours }: Member, at: number, typed: Typed): Html {
  const field = memberField(at)
  const own = ownField(field)
  const sent = typed.values
  const hand = html`<textarea name="${own}" rows="1" spellcheck="false" autocomplete="off" aria-label="The value as JSON; empty leaves it out">
${sent[own] ?? yours ?? ''}</textarea>`
  return html`<fieldset class="dispute"><legend>Metadata: <bdi><code>${name}</code></bdi></legend>
${faultNote(field, typed)}
<div class="sides">
${radio({ field, value: 'theirs', label: 'What is stored now', content: value(theirs) }, sent)}
${radio({ field, value: 'yours', label: 'Yours', content: value(yours) }, sent)}
</div>
${before(base)}
${radio({ field, value: 'own', label: 'Edit by hand', content: hand }, sent)}
</fieldset>`
}

const agreed = (text: string, first: boolean, last: boolean): Html[] =>
  fold({ changed: false, lines: text.split(/(?<=\n)(?=.)/s) }, first, last).map((each) =>
    unchanged(each, 'without a dispute', 'agreed'),
  )

function partView(parts: readonly Part[], typed: Typed): Html[] {
  const all = parts.filter((part) => part.disputed).length
  let disputes = 0
  return parts.flatMap((part, at) =>
    part.disputed
      ? [partChoice(part, disputes++, all, typed)]
      : agreed(part.text, at === 0, at === parts.length - 1),
  )
}

/** The text, and the members of the metadata that both sides changed. */
const choices = (merged: Merged, typed: Typed): Html => html`${
  disputedParts(merged).length > 0 ? partView(merged.parts, typed) : nothing
}
${disputedMembers(merged).map((each, at) => memberChoice(each, at, typed))}`

const KEEP = 'Keep what is stored'

const conflictNote = ({ theirs, base }: Sides, now: number, asked: string): Html =>
  html`<div class="note warn" role="alert"><p><strong>Version ${theirs.version} was written ${when(theirs.updatedAt, now)}${
    base ? html`, after the version ${base.version} that you began with` : nothing
  }.</strong> Nothing of yours is saved yet. ${
    base
      ? 'What only one of you changed is merged already.'
      : 'No version that both began with is kept, so every difference is yours to choose about.'
  } ${asked}</p></div>`

interface Place {
  readonly agentId: string
  readonly listing: Listing
}

const placeOf = ({ identity, sent }: SentVisit): Place => ({
  agentId: identity.agentId,
  listing: listingIn(sent.list),
})

const chooser = (
  { agentId, listing }: Place,
  { key, base, theirs, yours }: Sides,
  merged: Merged,
  typed: Typed,
): Html => html`<form
method="post" action="${agentPath(agentId)}/memory/resolve" class="disputes">
${hidden('key', key)}${listField(listing)}${hidden('base', base?.version ?? '')}${hidden('theirs', theirs.version)}
${hidden('text', yours.text)}${hidden('metadata', yours.metadata)}
${choices(merged, typed)}
<p class="actions"><button>Save what I chose</button>
<button class="quiet" name="next" value="edit">Look at the whole text first</button>
<a class="button quiet" href="${memoryIn(agentId, key, listing)}">${KEEP}</a></p>
</form>`

function show(
  visit: SentVisit,
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

/** Both sides, with the choices that were made and their errors. */
function showSides(
  visit: SentVisit,
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

/** After an edit or a resolution, with what is stored now. */
export async function showConflict(
  visit: SentVisit,
  workspace: Workspace,
  refusal: Problem,
): Promise<Answer> {
  const { key = '', text = '', metadata = '', list = '', expectedVersion } = visit.sent
  // A restored version was not edited, so it has no base.
  const base = visit.sent.version === undefined ? expectedVersion : undefined
  const typed = { key, text, metadata, list }
  const asked = { ...typed, base: base ?? '' }
  const sides = await unlessGone(findSides(workspace, visit.identity, asked))
  return sides
    ? showSides(visit, workspace, sides, untouched)
    : showGone(visit, workspace, { values: typed, refusal })
}

/** The other fields are the choices. */
const conflictForm = z.object({
  key: memoryKey,
  text: z.string(),
  metadata: z.string().refine(isObject, 'must be one JSON object'),
  theirs: z.string().regex(/^\d{1,15}$/, 'must be a version'),
})

function isObject(text: string): boolean {
  try {
    return /^\s*\{/.test(text) && parseStrictJson(text) !== undefined
  } catch {
    return false
  }
}

async function decided(workspace: Workspace, { identity, sent }: SentVisit) {
  validateBody(conflictForm, sent)
  const sides = await findSides(workspace, identity, sent)
  return { sides, ...decide(mergedSides(sides), sent) }
}

/** After a further conflict, the resolution is the new `yours`, and what it resolved is its base. */
async function refuse(visit: SentVisit, workspace: Workspace, refusal: Problem): Promise<Answer> {
  const { identity, sent } = visit
  if (!conflictForm.safeParse(sent).success) throw refusal
  if (isGone(refusal)) return showGone(visit, workspace, { values: sent, refusal })
  if (refusal.code === 'version_conflict') {
    const { key = '', theirs = '', list = '' } = sent
    const { text, metadata } = await decided(workspace, visit)
    const values = { key, text, metadata, list, expectedVersion: theirs }
    return showConflict({ ...visit, sent: values }, workspace, refusal)
  }
  const sides = await findSides(workspace, identity, sent)
  return showSides(visit, workspace, sides, { values: sent, refusal })
}

async function save(visit: SentVisit, workspace: Workspace): Promise<Answer> {
  const { call, identity, sent } = visit
  const { sides, ...chosen } = await decided(workspace, visit)
  if (sent.next === 'edit') {
    const review = html`<div class="note good" role="status"><p>This is the text as you chose it. It is not saved yet.</p></div>
${editorOf(placeOf(visit), sides, chosen)}`
    return show(visit, workspace, sides, 200, review)
  }
  const { write, metadata } = writeIn({
    key: sides.key,
    text: lineEndsOf(sides.theirs.text, chosen.text),
    metadata: chosen.metadata,
    expectedVersion: sent.theirs ?? '',
  })
  await saveMemory(workspace, identity, write, metadata)
  return redirect(call, savedPath(identity.agentId, sides.key, sent.list))
}

export const resolveForm = agentForm({
  operationId: 'consoleResolve',
  path: `${agentPath(':agent')}/memory/resolve`,
  budget: 'writes',
  refuse,
  errors: SAVE_ERRORS,
  handle: save,
})
