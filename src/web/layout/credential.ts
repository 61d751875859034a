/** Secrets that a page shows once, with what each is for. */
import { html } from 'hono/html'
import type { Html } from './page.ts'

export interface Credential {
  readonly name: string
  readonly label: string
  readonly value: string
  readonly meaning: string
}

const credential = ({ name, label, value, meaning }: Credential): Html => html`<div class="token">
<label for="${name}">${label}</label>
<p class="hint" id="${name}-hint">${meaning}</p>
<div class="copy">
<input id="${name}" class="code" readonly value="${value}" autocomplete="off" spellcheck="false" aria-describedby="${name}-hint">
<button type="button" class="quiet" data-copies="${name}" hidden>Copy<span class="away"> ${label}</span></button>
</div>
</div>`

export const credentials = (all: readonly Credential[]): Html => html`
<div class="note warn" role="status"><p><strong>Copy now.</strong> We can’t show it again.</p></div>
${all.map(credential)}`
