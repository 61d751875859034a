/** The form in which a memory is edited. */
import { html } from 'hono/html'
import { fields } from '../../../fields.ts'
import { hidden, type Typed, textarea } from '../../layout/fields.ts'
import type { Html } from '../../layout/page.ts'
import { agentPath, memoryPath } from '../../layout/paths.ts'
import { number } from '../../layout/words.ts'

const editPath = (agentId: string): string => `${agentPath(agentId)}/memory/edit`

const textHint = `At most ${number(fields.text.maxBytes)} bytes of UTF-8.`

/** The two texts of a memory as form fields, and what they are based on. */
export const editor = (
  agentId: string,
  typed: Typed,
  save: string,
  leave: string,
): Html => html`<form
method="post" action="${editPath(agentId)}" class="stack">
${hidden('key', typed.values.key ?? '')}
${hidden('expectedVersion', typed.values.expectedVersion ?? '')}
${textarea({ name: 'text', label: 'Text', hint: textHint, rows: 16 }, typed)}
<p class="hint" data-bytes-of="text" data-most="${fields.text.maxBytes}" hidden></p>
${textarea({ name: 'metadata', label: 'Metadata, as JSON', rows: 3 }, typed)}
<p class="actions"><button>${save}</button>
<a class="button quiet" href="${memoryPath(agentId, typed.values.key ?? '')}">${leave}</a></p>
</form>`
