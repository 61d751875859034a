/** A memory's text as it is meant: Markdown and JSON as such, everything else as it stands. */
import { html, raw } from 'hono/html'
import { type Html, nothing } from '../../../layout/page.ts'
import { size } from '../../../layout/words.ts'
import { sourceOf } from '../text.ts'
import { looksLikeMarkdown, markdownHtml } from './markdown.ts'
import { prettyJson } from './pretty-json.ts'

interface Meant {
  readonly shown: Html
  /** With the line ends that it is shown with. */
  readonly laidOut: string
}

/** Undefined where it is shown as it stands. */
async function meant(text: string): Promise<Meant | undefined> {
  const json = prettyJson(text)
  if (json !== undefined) return { shown: sourceOf(json), laidOut: json }
  const markdown = looksLikeMarkdown(text) ? await markdownHtml(text) : undefined
  if (markdown === undefined) return undefined
  // The renderer has escaped all that it did not write itself.
  const shown = html`<div class="text rendered" dir="auto">${raw(markdown)}</div>`
  return { shown, laidOut: text }
}

export const rendered = async (text: string): Promise<Awaited<Html>> =>
  (await meant(text))?.shown ?? sourceOf(text)

/** Longer, a text would put everything that stands below it out of sight. */
const MOST_CHARS = 2_500
const MOST_LINES = 36

const isLong = (text: string): boolean =>
  text.length > MOST_CHARS || text.split('\n', MOST_LINES + 1).length > MOST_LINES

/** Where it is long its beginning is seen, until all of it is asked for: the style sees to it. */
const unfolding = (shown: Html, laidOut: string): Html =>
  isLong(laidOut)
    ? html`${shown}<details class="all" id="all"><summary><span class="more">Show all ${size(Buffer.byteLength(laidOut))}</span><span class="less">Show less</span></summary></details>`
    : shown

/** How a text can be looked at, by its own address: `as` of the query. */
export type As = 'source' | undefined

const view = (name: string, path: string, current: boolean): Html =>
  html`<li><a href="${path}"${current ? html` aria-current="true"` : nothing}>${name}</a></li>`

/** With a switch where there is something to switch. `path` has a query already. */
export async function textView(text: string, as: As, path: string): Promise<Awaited<Html>> {
  const found = await meant(text)
  if (found === undefined) return unfolding(sourceOf(text), text)
  const { shown, laidOut } = found
  return html`<nav class="views" aria-label="How the text is shown"><ul>
${view('Rendered', path, as === undefined)}${view('Source', `${path}&as=source`, as === 'source')}
</ul></nav>
${as === 'source' ? unfolding(sourceOf(text), text) : unfolding(shown, laidOut)}`
}
