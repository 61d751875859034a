/** Changes of a text as a page shows them: expanded and folded without a script. */
import { html } from 'hono/html'
import { type Html, nothing } from '../../../layout/page.ts'
import { asWritten } from '../../../layout/parts.ts'
import { plural } from '../../../layout/words.ts'
import { type Changed, changesOf, type Folded, folded, type Piece } from './changed-lines.ts'

const pieces = (all: readonly Piece[]): Html[] =>
  all.map(({ changed, text }) => (changed ? html`<mark>${text}</mark>` : html`${text}`))

const change = ({ removed, added }: Changed): Html =>
  html`${removed.length > 0 ? html`<pre class="removed" dir="auto"><del>${pieces(removed)}</del></pre>` : nothing}${
    added.length > 0
      ? html`<pre class="added" dir="auto"><ins>${pieces(added)}</ins></pre>`
      : nothing
  }`

const lines = (all: readonly string[]): Html =>
  html`<pre dir="auto">${asWritten(all.join(''))}</pre>`

const unchanged = (stretch: Folded): Html =>
  stretch.folded
    ? html`<details><summary>${plural(stretch.lines.length, 'line')} unchanged</summary>${lines(stretch.lines)}</details>`
    : lines(stretch.lines)

/** From one text to the next; says so where nothing changed. */
export function changeView(before: string, after: string): Html {
  if (before === after) return html`<p class="dim">The text did not change.</p>`
  const stretches = folded(changesOf(before, after))
  return html`<div class="changes">${stretches.map((each) =>
    each.changed ? change(each) : unchanged(each),
  )}</div>`
}
