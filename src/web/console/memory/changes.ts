/** Changes between two versions: of the text by lines and by words, of the metadata by members. */
import { diffLines, diffWordsWithSpace } from 'diff'
import { html } from 'hono/html'
import { membersOf } from '../../../json/members.ts'
import { sameValue } from '../../../json/same-value.ts'
import type { Memory } from '../../../store/port/memories.ts'
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
  /** Behind a summary line. */
  readonly folded?: boolean
}

interface Changed {
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

const CONTEXT = 3

/** Fewer are not worth a summary line. */
const FEWEST_FOLDED = 4

export function fold(lines: readonly string[], first: boolean, last: boolean): Unchanged[] {
  const from = first ? 0 : CONTEXT
  const to = lines.length - (last ? 0 : CONTEXT)
  if (to - from < FEWEST_FOLDED) return [{ changed: false, lines }]
  return [
    { changed: false as const, lines: lines.slice(0, from) },
    { changed: false as const, lines: lines.slice(from, to), folded: true },
    { changed: false as const, lines: lines.slice(to) },
  ].filter((part) => part.lines.length > 0)
}

/** A few unchanged lines around each change are shown; the others are folded. */
export const folded = (stretches: readonly Stretch[]): Stretch[] =>
  stretches.flatMap<Stretch>((stretch, at) =>
    stretch.changed ? [stretch] : fold(stretch.lines, at === 0, at === stretches.length - 1),
  )

const pieces = (all: readonly Piece[]): Html[] =>
  all.map(({ changed, text }) => (changed ? html`<mark>${text}</mark>` : html`${text}`))

const change = ({ removed, added }: Changed): Html =>
  html`${removed.length > 0 ? html`<pre class="removed" dir="auto"><del>${pieces(removed)}</del></pre>` : nothing}${
    added.length > 0
      ? html`<pre class="added" dir="auto"><ins>${pieces(added)}</ins></pre>`
      : nothing
  }`

/** One side of a difference, with what only it has marked. */
export const sideView = (stretches: readonly Stretch[], side: 'removed' | 'added'): Html[] =>
  stretches.flatMap((each) => {
    if (!each.changed) return [html`${each.lines.join('')}`]
    const isPartly = each[side].some(({ changed }) => changed)
    return pieces(isPartly ? each[side] : each[side].map(({ text }) => ({ changed: true, text })))
  })

/** `words`: what is said of lines that are folded. */
export function unchanged({ folded, lines }: Unchanged, words: string, kind?: 'agreed'): Html {
  const mark = kind ? html` class="${kind}"` : nothing
  const shown = html`<pre${mark} dir="auto">${asWritten(lines.join(''))}</pre>`
  return folded
    ? html`<details${mark}><summary>${plural(lines.length, 'line')} ${words}</summary>${shown}</details>`
    : shown
}

function textView(before: string, after: string): Html {
  if (before === after) return html`<p class="dim">The text did not change.</p>`
  const stretches = folded(changesOf(before, after))
  return html`<div class="changes">${stretches.map((each) =>
    each.changed ? change(each) : unchanged(each, 'unchanged'),
  )}</div>`
}

/** Values of members as JSON; '' where there is none. */
export const sameMember = (a: string, b: string): boolean =>
  a === b || (a !== '' && b !== '' && sameValue(a, b))

const value = (json: string, mark: 'del' | 'ins'): Html => {
  if (json === '') return html`<span class="dim">nothing</span>`
  return mark === 'del'
    ? html`<del><code>${json}</code></del>`
    : html`<ins><code>${json}</code></ins>`
}

/** Both are valid JSON objects. */
function metadataView(before: string, after: string): Html {
  const [was, is] = [membersOf(before), membersOf(after)]
  const rows = [...new Set([...was.keys(), ...is.keys()])].flatMap((name) => {
    const [old = '', now = ''] = [was.get(name), is.get(name)]
    if (sameMember(old, now)) return []
    return html`<tr>
<th scope="row"><bdi>${name}</bdi></th>
<td class="words" data-name="Before">${value(old, 'del')}</td>
<td class="words" data-name="After">${value(now, 'ins')}</td>
</tr>`
  })
  if (rows.length === 0) return nothing
  return html`<table class="list members">
<thead><tr><th scope="col">Metadata</th><th scope="col">Before</th><th scope="col">After</th></tr></thead>
<tbody>${rows}</tbody>
</table>`
}

export type Content = Pick<Memory, 'text' | 'metadata'>

const NONE: Content = { text: '', metadata: '{}' }

/** Undefined: there was, or is, no memory. */
export const differenceView = (was: Content = NONE, is: Content = NONE): Html =>
  html`${textView(was.text, is.text)}${metadataView(was.metadata, is.metadata)}`
