/** The text of a memory as it is read. */
import { html } from 'hono/html'
import type { Html } from '../../layout/page.ts'

/** HTML drops one line feed after the opening tag, so one stands there to be dropped. */
const kept = (text: string): string => (text.startsWith('\n') ? `\n${text}` : text)

/** Exactly what was written. */
export const sourceOf = (text: string): Html =>
  html`<pre class="text" id="source" dir="auto" tabindex="0" aria-label="Text">${kept(text)}</pre>`
