/** A conflict: both sides are merged, and the operator decides about each remaining difference. */
import { html } from 'hono/html'
import { z } from 'zod'
import type { Problem } from '../../../errors.ts'
import { saveMemory } from '../../../home/memories/memory.ts'
import { memoryKey } from '../../../home/schemas.ts'
import { type Answer, redirect } from '../../../http/call.ts'
import type { Fields } from '../../../http/form.ts'
import { parseStrictJson } from '../../../http/json.ts'
import { lineEndsOf, withLineFeeds } from '../../../merge-lines.ts'
import { validateBody } from '../../../pipeline/validate.ts'
import { faultNote, hidden, refusalNote, type Typed, untouched } from '../../layout/fields.ts'
import { type Html, nothing } from '../../layout/page.ts'
import { agentPath } from '../../layout/paths.ts'
import { when } from '../../layout/words.ts'
import { agentForm, type SentVisit } from '../endpoints.ts'
import { listField, showBeside } from '../memories/list-pane.ts'
import { type Listing, listingIn, memoryIn, queryOf } from '../memories/listing.ts'
import type { Workspace } from '../workspace.ts'
import { type Content, changesOf, differenceView, fold, sideView, unchanged } from './changes.ts'
import { editor, meanwhile, SAVE_ERRORS, savedPath, writeIn } from './editor.ts'
import { isGone, showGone, unlessGone } from './gone.ts'
import { crumbOf } from './memory.ts'
import {
  choiceField,
  type Dispute,
  decide,
  disputesIn,
  findSides,
  isOfMetadata,
  type Merged,
  merge,
  ownField,
  type Sides,
} from './merge.ts'

const NOTHING = html`<p class="dim">Left out.</p>`

const sideOf = (text: string, shown: Html | Html[]): Html =>
  text === ''
    ? NOTHING
    : html`<pre class="text" dir="auto" tabindex="0" aria-label="The text of this choice">
${shown}</pre>`

function hand(dispute: Dispute, at: number, { values }: Typed): Html {
  const text = values[ownField(at)] ?? dispute.yours
  const [least, name] = isOfMetadata(dispute)
    ? [1, 'The value as JSON; empty leaves it out']
    : [3, 'Written by hand']
  return html`<textarea name="${ownField(at)}" rows="${Math.min(12, Math.max(least, text.split('\n').length))}" spellcheck="false" autocomplete="off" aria-label="${name}" dir="auto">
${text}</textarea>`
}

function choice(dispute: Dispute, at: number, legend: Html, typed: Typed): Html {
  const { base, theirs, yours } = dispute
  const field = choiceField(at)
  const option = (value: string, label: string, content: Html = nothing): Html =>
    html`<div class="option"><div class="check">
<input type="radio" id="${field}-${value}" name="${field}" value="${value}" required${
      typed.values[field] === value ? html` checked` : nothing
    }><label for="${field}-${value}">${label}</label></div>${content}</div>`
  const changes = changesOf(theirs, yours)
  return html`<fieldset class="dispute"><legend>${legend}</legend>
${faultNote(field, typed)}
<div class="sides">
${option('theirs', 'What is stored now', sideOf(theirs, sideView(changes, 'removed')))}
${option('yours', 'Yours', sideOf(yours, sideView(changes, 'added')))}
</div>
${base === undefined ? nothing : html`<details><summary>Before both changes</summary>${sideOf(base, html`${base}`)}</details>`}
${isOfMetadata(dispute) ? nothing : option('both', 'Both: what is stored, then yours')}
${option('own', 'Edit by hand', hand(dispute, at, typed))}
</fieldset>`
}

const agreed = (text: string, first: boolean, last: boolean): Html[] =>
  fold(text.split(/(?<=\n)(?=.)/s), first, last).map((each) =>
    unchanged(each, 'without a conflict', 'agreed'),
  )

/** The text, and the members of the metadata that both sides changed. */
function choices(merged: Merged, typed: Typed): Html[] {
  const { parts, members } = merged
  const disputes = disputesIn(merged)
  const ofText = disputes.filter((each) => !isOfMetadata(each)).length
  const legend = (part: Dispute, at: number): Html => {
    if (isOfMetadata(part))
      return html`Metadata: <bdi><code>${part.name ?? 'all of it'}</code></bdi>`
    return ofText === 1 ? html`The difference` : html`Difference ${at + 1} of ${ofText}`
  }
  return [...(ofText > 0 ? parts : []), ...members].flatMap((part, place) => {
    if (part.disputed) {
      const at = disputes.indexOf(part)
      return choice(part, at, legend(part, at), typed)
    }
    return isOfMetadata(part) ? [] : agreed(part.text, place === 0, place === parts.length - 1)
  })
}

const KEEP = 'Keep what is stored'

const conflictNote = ({ theirs, base }: Sides, now: number, asked: string): Html =>
  html`<div class="note warn" role="alert"><p><strong>Version ${theirs.version} was written ${when(theirs.updatedAt, now)}${
    base ? html`, after version ${base.version}, which you started from` : nothing
  }.</strong> Your changes are not saved yet. ${
    base
      ? 'Changes on one side only are already merged.'
      : 'The version that both sides started from is no longer kept, so nothing is merged yet.'
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
<button class="quiet" name="next" value="edit">Review the whole text first</button>
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

function editorOf({ agentId, listing }: Place, { key, theirs }: Sides, decided: Content): Html {
  const list = queryOf(listing)
  const values: Fields = { key, ...decided, expectedVersion: String(theirs.version), list }
  return html`${editor(agentId, { values }, { save: `Save over version ${theirs.version}`, leave: KEEP })}
<section aria-labelledby="would"><h2 id="would">What saving this would change</h2>
${differenceView({ ...theirs, text: withLineFeeds(theirs.text) }, decided)}</section>`
}

/** Both sides, with the choices that were made and their errors. */
function showSides(
  visit: SentVisit,
  workspace: Workspace,
  sides: Sides,
  typed: Typed,
): Promise<Answer> {
  const place = placeOf(visit)
  const merged = merge(sides)
  const said = (asked: string) => conflictNote(sides, workspace.clock(), asked)
  const body =
    disputesIn(merged).length > 0
      ? html`${typed.refusal ? refusalNote(typed) : said('Decide about each difference below.')}
${chooser(place, sides, merged, typed)}`
      : html`${said('Nothing overlaps. Check the result, then save it.')}
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
  return { sides, ...decide(merge(sides), sent) }
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
    const review = html`<div class="note good" role="status"><p>This is the text with your choices. It is not saved yet.</p></div>
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
