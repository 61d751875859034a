/** Changes between two versions: of the text by lines and by words, of the metadata by members. */
import { diffLines, diffWordsWithSpace } from 'diff'
import { html } from 'hono/html'
import { membersOf } from '../../../json/members.ts'
import { sameValue } from '../../../json/same-value.ts'
import type { Memory } from '../../../store/port/keeping/memories.ts'
import { type Html, nothing } from '../../layout/page.ts'
import { asWritten } from '../../layout/parts.ts'
import { plural } from '../../layout/words.ts'

/** Part of a line. */
export interface Piece {
  readonly changed: boolean
  readonly text: string
}

interface Unchanged {
  readonly changed: false
  readonly lines: readonly string[]
}

export interface Changed {
  readonly changed: true
  readonly removed: readonly Piece[]
  readonly added: readonly Piece[]
}

type Stretch = Unchanged | Changed

/**
 * Lines or words that differ. Time grows with the square of this, and blocks all other requests;
 * beyond it, texts are compared more coarsely.
 */
const MOST_EDITS = 250

const MOST_EDITS_OF_A_STRETCH = 100

const linesIn = (text: string): string[] => text.split(/(?<=\n)/)

const whole = (text: string): Piece[] => (text === '' ? [] : [{ changed: false, text }])

/** Differs as a whole, without marked words. */
const plain = (removed: string, added: string): Changed => ({
  changed: true,
  removed: whole(removed),
  added: whole(added),
})

interface Effort {
  left: number
}

function byWords(removed: string, added: string, effort: Effort): Changed {
  if (removed === '' || added === '') return plain(removed, added)
  const maxEditLength = Math.min(MOST_EDITS_OF_A_STRETCH, effort.left)
  const words = maxEditLength > 0 && diffWordsWithSpace(removed, added, { maxEditLength })
  effort.left -= words ? words.filter((each) => each.added || each.removed).length : maxEditLength
  if (!words || words.every((each) => each.added || each.removed || !each.value.trim())) {
    return plain(removed, added)
  }
  const side = (other: 'added' | 'removed'): Piece[] =>
    words
      .filter((each) => !each[other])
      .map(({ added, removed, value }) => ({ changed: added || removed, text: value }))
  return { changed: true, removed: side('added'), added: side('removed') }
}

/** Texts with little in common are one change. */
export function changesOf(before: string, after: string): Stretch[] {
  const effort = { left: MOST_EDITS }
  const lines = diffLines(before, after, { maxEditLength: MOST_EDITS })
  if (!lines) return [plain(before, after)]
  const stretches: Stretch[] = []
  for (let at = 0; at < lines.length; at++) {
    const [first, second] = [lines[at], lines[at + 1]]
    if (!first) continue
    if (!first.added && !first.removed) {
      stretches.push({ changed: false, lines: linesIn(first.value) })
    } else if (first.removed && second?.added) {
      stretches.push(byWords(first.value, second.value, effort))
      at++
    } else stretches.push(first.removed ? plain(first.value, '') : plain('', first.value))
  }
  return stretches
}

interface Folded {
  readonly changed: false
  readonly folded: boolean
  readonly lines: readonly string[]
}

const CONTEXT = 3

/** Fewer are not worth a summary line. */
const FEWEST_FOLDED = 4

const shownLines = (lines: readonly string[]): Folded => ({ changed: false, folded: false, lines })

export function fold({ lines }: Unchanged, first: boolean, last: boolean): Folded[] {
  const from = first ? 0 : CONTEXT
  const to = lines.length - (last ? 0 : CONTEXT)
  if (to - from < FEWEST_FOLDED) return [shownLines(lines)]
  const parts = [
    shownLines(lines.slice(0, from)),
    { changed: false as const, folded: true, lines: lines.slice(from, to) },
    shownLines(lines.slice(to)),
  ]
  return parts.filter((part) => part.lines.length > 0)
}

/** A few unchanged lines around each change are shown; the others are folded. */
export const folded = (stretches: readonly Stretch[]): (Changed | Folded)[] =>
  stretches.flatMap<Changed | Folded>((stretch, at) =>
    stretch.changed ? [stretch] : fold(stretch, at === 0, at === stretches.length - 1),
  )

export interface Difference {
  readonly of: 'both' | 'stored' | 'yours'
  readonly text: string
}

/** By words, or by lines if there are too many. */
export function differences(stored: string, yours: string): Difference[] {
  const options = { maxEditLength: MOST_EDITS }
  const changes = diffWordsWithSpace(stored, yours, options) ?? diffLines(stored, yours, options)
  if (!changes) {
    return [
      { of: 'stored', text: stored },
      { of: 'yours', text: yours },
    ]
  }
  return changes.map(({ added, removed, value }) => ({
    of: added ? 'yours' : removed ? 'stored' : 'both',
    text: value,
  }))
}

const pieces = (all: readonly Piece[]): Html[] =>
  all.map(({ changed, text }) => (changed ? html`<mark>${text}</mark>` : html`${text}`))

const change = ({ removed, added }: Changed): Html =>
  html`${removed.length > 0 ? html`<pre class="removed" dir="auto"><del>${pieces(removed)}</del></pre>` : nothing}${
    added.length > 0
      ? html`<pre class="added" dir="auto"><ins>${pieces(added)}</ins></pre>`
      : nothing
  }`

/** `words`: what is said of lines that are folded. */
export function unchanged({ folded, lines }: Folded, words: string, kind?: 'agreed'): Html {
  const mark = kind ? html` class="${kind}"` : nothing
  const shown = html`<pre${mark} dir="auto">${asWritten(lines.join(''))}</pre>`
  return folded
    ? html`<details${mark}><summary>${plural(lines.length, 'line')} ${words}</summary>${shown}</details>`
    : shown
}

export function changeView(before: string, after: string): Html {
  if (before === after) return html`<p class="dim">The text did not change.</p>`
  const stretches = folded(changesOf(before, after))
  return html`<div class="changes">${stretches.map((each) =>
    each.changed ? change(each) : unchanged(each, 'unchanged'),
  )}</div>`
}

interface ChangedMember {
  readonly name: string
  readonly before: string | undefined
  readonly after: string | undefined
}

const same = ({ before, after }: ChangedMember): boolean =>
  before !== undefined && after !== undefined && sameValue(before, after)

/** Both are valid JSON objects. */
function changedMembers(before: string, after: string): ChangedMember[] {
  const [was, is] = [membersOf(before), membersOf(after)]
  const names = [...new Set([...was.keys(), ...is.keys()])]
  return names
    .map((name) => ({ name, before: was.get(name), after: is.get(name) }))
    .filter((each) => !same(each))
}

const value = (json: string | undefined, mark: 'del' | 'ins'): Html => {
  if (json === undefined) return html`<span class="dim">nothing</span>`
  return mark === 'del'
    ? html`<del><code>${json}</code></del>`
    : html`<ins><code>${json}</code></ins>`
}

const row = ({ name, before, after }: ChangedMember): Html => html`<tr>
<th scope="row"><bdi>${name}</bdi></th>
<td class="words" data-name="Before">${value(before, 'del')}</td>
<td class="words" data-name="After">${value(after, 'ins')}</td>
</tr>`

function metadataView(before: string, after: string): Html {
  const members = changedMembers(before, after)
  if (members.length === 0) return nothing
  return html`<table class="list members">
<thead><tr><th scope="col">Metadata</th><th scope="col">Before</th><th scope="col">After</th></tr></thead>
<tbody>${members.map(row)}</tbody>
</table>`
}

type Text = Pick<Memory, 'text' | 'metadata'>

const NONE: Text = { text: '', metadata: '{}' }

/** Undefined: there was, or is, no memory. */
export const differenceView = (was: Text = NONE, is: Text = NONE): Html =>
  html`${changeView(was.text, is.text)}${metadataView(was.metadata, is.metadata)}`
