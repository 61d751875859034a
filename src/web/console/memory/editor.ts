/** The form in which a memory is written. */
import { html } from 'hono/html'
import { fields } from '../../../fields.ts'
import { hidden, type Typed, textarea } from '../../layout/fields.ts'
import { type Html, nothing } from '../../layout/page.ts'
import { agentPath } from '../../layout/paths.ts'
import { number } from '../../layout/words.ts'
import { listField } from '../memories/list-pane.ts'
import { listingIn, memoryIn } from '../memories/listing.ts'

const editPath = (agentId: string): string => `${agentPath(agentId)}/memory/edit`

const textHint = () => `At most ${number(fields.text.maxBytes)} bytes.`

const metadataHint = 'One JSON object; empty where there is nothing to say.'

/** A script keeps what is typed, and offers it again: a draft of this; the version that it is based on is a field of the form. */
const draftOf = (agentId: string, key: string): Html => html`data-draft="${agentId} ${key}"`

/** The two texts of a memory. */
const texts = (typed: Typed): Html => html`
${textarea({ name: 'text', label: 'Text', hint: textHint(), rows: 14 }, typed)}
<p class="hint" data-bytes-of="text" data-most="${fields.text.maxBytes}" hidden></p>
${textarea({ name: 'metadata', label: 'Metadata', hint: metadataHint, rows: 4, required: false }, typed)}`

interface Form {
  readonly agentId: string
  readonly action: string
  /** '' of a new one. */
  readonly key: string
  /** What stands above the texts. */
  readonly above: Html
  readonly typed: Typed
  readonly save: string
  readonly leave: Html
}

export const writing = ({
  agentId,
  action,
  key,
  above,
  typed,
  save,
  leave,
}: Form): Html => html`<form
method="post" action="${action}" class="stack editor" ${draftOf(agentId, key)}${typed.refusal ? html` data-unsaved` : nothing}>
${above}${texts(typed)}
<p class="actions"><button>${save}</button>
${leave}</p>
</form>`

/** Of a memory that is there, what the text is based on, and the list to which it leads back. */
export function editor(agentId: string, typed: Typed, save: string, leave: string): Html {
  const { key = '', expectedVersion = '', list } = typed.values
  const listing = listingIn(list)
  return writing({
    agentId,
    action: editPath(agentId),
    key,
    above: html`${hidden('key', key)}
${hidden('expectedVersion', expectedVersion)}${listField(listing)}`,
    typed,
    save,
    leave: html`<a class="button quiet" href="${memoryIn(agentId, key, listing)}">${leave}</a>`,
  })
}
