/** A memory's text and metadata: Markdown and JSON are rendered, everything else is shown as written. */
import { html, raw } from 'hono/html'
import { indented } from '../../../json/indent.ts'
import { membersOf } from '../../../json/members.ts'
import type { Memory } from '../../../store/port/memories.ts'
import { type Html, nothing } from '../../layout/page.ts'
import { asWritten } from '../../layout/parts.ts'
import { size } from '../../layout/words.ts'
import { looksLikeMarkdown, markdownHtml } from './markdown.ts'

/** Exactly what was written. */
export const sourceOf = (text: string, kind = 'text'): Html =>
  html`<pre class="${kind}" dir="auto" tabindex="0" aria-label="Text">${asWritten(text)}</pre>`

/** Indented lines, or columns: it is read with every character in its place. */
const IN_COLUMNS = /^[\t ]+\S|\S(?: {3,}|\t)\S/m

const plain = (text: string): Html => sourceOf(text, IN_COLUMNS.test(text) ? 'text' : 'text prose')

const isNested = (value: string): boolean => /^[[{]/.test(value)

/** Strings as text; other values as written, digit for digit. */
const memberValue = (value: string): Html =>
  value.startsWith('"')
    ? html`<span dir="auto">${JSON.parse(value) as string}</span>`
    : html`<code>${value}</code>`

const metadataRow = ([name, value]: readonly [string, string]): Html =>
  html`<tr><th scope="row" dir="auto">${name}</th><td>${memberValue(value)}</td></tr>`

export function metadataOf({ metadata }: Pick<Memory, 'metadata'>): Html {
  if (metadata === '{}') return nothing
  const members = [...membersOf(metadata)]
  if (members.some(([, value]) => isNested(value)))
    return html`<h2>Metadata</h2><pre class="text" dir="auto">${indented(metadata)}</pre>`
  return html`<h2>Metadata</h2><table class="list metadata"><thead class="away"><tr><th scope="col">Name</th><th scope="col">Value</th></tr></thead>
<tbody>${members.map(metadataRow)}</tbody></table>`
}

const JSON_LIMITS = { depth: 32, length: 131_072 }

function isJson(source: string): boolean {
  try {
    JSON.parse(source)
    return true
  } catch {
    return false
  }
}

/** Undefined if it is not an object or array, is nested too deeply, or would be too long. */
export const prettyJson = (source: string): string | undefined =>
  /^\s*[[{]/.test(source) && isJson(source) ? indented(source, JSON_LIMITS) : undefined

interface Rendered {
  readonly shown: Html
  /** The text with its displayed line breaks. */
  readonly laidOut: string
}

/** Undefined if it is shown as written. */
async function render(text: string): Promise<Rendered | undefined> {
  const json = prettyJson(text)
  if (json !== undefined) return { shown: sourceOf(json), laidOut: json }
  const markdown = looksLikeMarkdown(text) ? await markdownHtml(text) : undefined
  if (markdown === undefined) return undefined
  // The renderer escapes everything that it does not generate.
  const shown = html`<div class="text rendered" dir="auto">${raw(markdown)}</div>`
  return { shown, laidOut: text }
}

export const rendered = async (text: string): Promise<Awaited<Html>> =>
  (await render(text))?.shown ?? plain(text)

/** A longer text would push everything below it out of sight. */
const MOST_CHARS = 2_500
const MOST_LINES = 36

const isLong = (text: string): boolean =>
  text.length > MOST_CHARS || text.split('\n', MOST_LINES + 1).length > MOST_LINES

/** The stylesheet shows only the beginning of a long text until it is unfolded. */
const unfolding = (shown: Html, laidOut: string): Html =>
  isLong(laidOut)
    ? html`${shown}<details class="all" id="all"><summary><span class="more">Show all ${size(Buffer.byteLength(laidOut))}</span><span class="less">Show less</span></summary></details>`
    : shown

/** How the text is shown; `as` in the query. */
export type As = 'source' | undefined

const view = (name: string, path: string, current: boolean): Html =>
  html`<li><a href="${path}"${current ? html` aria-current="page"` : nothing}>${name}</a></li>`

/** With a switch to the source, if it differs. `path` must have a query. */
export async function textView(text: string, as: As, path: string): Promise<Awaited<Html>> {
  const found = await render(text)
  if (found === undefined) return unfolding(plain(text), text)
  const { shown, laidOut } = found
  return html`<nav class="views" aria-label="How the text is shown"><ul>
${view('Rendered', path, as === undefined)}${view('Source', `${path}&as=source`, as === 'source')}
</ul></nav>
${as === 'source' ? unfolding(sourceOf(text), text) : unfolding(shown, laidOut)}`
}
