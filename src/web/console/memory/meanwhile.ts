/** Where a page that edits a memory hears of what is written in the meantime. */
import { html } from 'hono/html'
import type { Html } from '../../layout/page.ts'

/** Silent until the script `later` has something to say. */
export const meanwhile = (key: string, version: string | number): Html =>
  html`<div class="note warn" id="later" role="status" data-key="${key}" data-version="${version}" hidden></div>`
