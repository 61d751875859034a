/** The text of a memory as it is read. */
import { html } from 'hono/html'
import type { Html } from '../../layout/page.ts'
import { asWritten } from '../../layout/parts.ts'

/** Exactly what was written. */
export const sourceOf = (text: string): Html =>
  html`<pre class="text" dir="auto" tabindex="0" aria-label="Text">${asWritten(text)}</pre>`
