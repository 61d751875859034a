/** A memory’s text and metadata for people: Markdown and JSON rendered, everything else as it was written. */
import { html, raw } from 'hono/html'
import { indented } from '../../../json/indent.ts'
import { membersOf } from '../../../json/members.ts'
import type { Memory } from '../../../store/port/keeping/memories.ts'
import { type Html, nothing } from '../../layout/page.ts'
import { asWritten } from '../../layout/parts.ts'
import { size } from '../../layout/words.ts'
import { looksLikeMarkdown, markdownHtml } from './markdown.ts'

/** Exactly what was written. */
export const sourceOf = (text: string): Html =>
  html`<pre class="text" dir="auto" tabindex="0" aria-label="Text">${asWritten(text)}</pre>`

const isNested = (value: string): boolean => /^[[{]/.test(value)

/** Text as text; everything else as it is written, digit for digit. */
const memberValue = (value: string): Html =>
  value.startsWith('"')
    ? html`<span dir="auto">${JSON.parse(value) as string}</span>`
    : html`<code>${value}</code>`

const metadataRow = ([name, value]: readonly [string, string]): Html =>
  html`<tr><th scope="row" dir="auto">${name}</th><td>${memberValue(value)}</td></tr>`

const metadataTable = (members: ReadonlyMap<string, string>): Html =>
  html`<table class="list metadata"><thead class="away"><tr><th scope="col">Name</th><th scope="col">Value</th></tr></thead>
<tbody>${[...members].map(metadataRow)}</tbody></table>`

const metadataContent = (metadata: string): Html => {
  const members = membersOf(metadata)
  return [...members.values()].some(isNested)
    ? html`<pre class="text" dir="auto">${indented(metadata)}</pre>`
    : metadataTable(members)
}

export const metadataOf = ({ metadata }: Pick<Memory, 'metadata'>): Html =>
  metadata === '{}' ? nothing : html`<h2>Metadata</h2>${metadataContent(metadata)}`

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
