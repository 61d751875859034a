/** A memory's text as it is meant: Markdown and JSON as such, everything else as it stands. */
import { html, raw } from 'hono/html'
import { type Html, nothing } from '../../../layout/page.ts'
import { sourceOf } from '../text.ts'
import { looksLikeMarkdown, markdownHtml } from './markdown.ts'
import { prettyJson } from './pretty-json.ts'

/** Undefined where it is shown as it stands. */
function meant(text: string): Html | undefined {
  const json = prettyJson(text)
  if (json !== undefined) return sourceOf(json)
  const markdown = looksLikeMarkdown(text) ? markdownHtml(text) : undefined
  // The renderer has escaped all that it did not write itself.
  return markdown === undefined
    ? undefined
    : html`<div class="text rendered" dir="auto">${raw(markdown)}</div>`
}

export const rendered = (text: string): Html => meant(text) ?? sourceOf(text)

/** How a text can be looked at, by its own address: `as` of the query. */
export type As = 'source' | undefined

const view = (name: string, path: string, current: boolean): Html =>
  html`<li><a href="${path}"${current ? html` aria-current="true"` : nothing}>${name}</a></li>`

/** With a switch where there is something to switch. `path` has a query already. */
export function textView(text: string, as: As, path: string): Html {
  const shown = meant(text)
  if (shown === undefined) return sourceOf(text)
  return html`<nav class="views" aria-label="How the text is shown"><ul>
${view('Rendered', path, as === undefined)}${view('Source', `${path}&as=source`, as === 'source')}
</ul></nav>
${as === 'source' ? sourceOf(text) : shown}`
}
