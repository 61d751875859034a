/** What begins a browser's ceremony: shown by a script alone, and only where there are passkeys. */
import { html } from 'hono/html'
import { hidden } from '../../layout/fields.ts'
import type { Html } from '../../layout/page.ts'

interface Ceremony {
  readonly does: 'create' | 'get'
  /** Where its options are asked for. */
  readonly asks: string
  /** The field of the form that takes what the browser answers. */
  readonly field: string
  readonly label: string
  readonly quiet?: boolean
}

export const ceremony = ({ does, asks, field, label, quiet }: Ceremony): Html => html`<div
class="passkey" data-passkey="${does}" data-asks="${asks}" hidden>
${hidden(field, '')}
<button type="button"${quiet ? html` class="quiet"` : ''}>${label}</button>
<p class="hint" role="status"></p>
</div>`

/** In its place, where there is no script or the browser has no passkeys. */
export const withoutThem = (words: string): Html => html`<p data-without-passkeys>${words}</p>`
