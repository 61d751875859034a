/** The form for writing a memory, and its validation. */
import { html } from 'hono/html'
import { type ErrorCode, Problem } from '../../../errors.ts'
import { fields } from '../../../fields.ts'
import { memoryWrite } from '../../../home/memories/memory.ts'
import type { Fields } from '../../../http/form.ts'
import { parseStrictJson } from '../../../http/json.ts'
import { compact } from '../../../json/members.ts'
import { validateBody } from '../../../pipeline/validate.ts'
import { fieldProblem, hidden, input, type Typed, textarea } from '../../layout/fields.ts'
import { type Html, nothing } from '../../layout/page.ts'
import { agentPath } from '../../layout/paths.ts'
import { number } from '../../layout/words.ts'
import { listField } from '../memories/list-pane.ts'
import { listingIn, listPath, memoryIn } from '../memories/listing.ts'

export const SAVE_ERRORS: readonly ErrorCode[] = [
  'memory_not_found',
  'version_conflict',
  'text_too_large',
  'metadata_too_large',
  'memory_quota_reached',
]

export const KEY_HINT = 'At most 100 characters: letters, digits, and _ . -'

/** Longer pointers are left out of sentences. */
const MOST_SHOWN = 100

/** The error of JSON that cannot be stored; undefined if it is not JSON. */
export function faultInJson(error: unknown): string | undefined {
  const [fault] = (error instanceof Problem && error.extras.errors) || []
  if (!fault?.pointer) return undefined
  const { pointer, message } = fault
  const place = pointer.length > MOST_SHOWN ? 'a value in it' : `what is at "${pointer}"`
  return `is JSON that cannot be stored: ${place} ${message}`
}

function parseMetadata(text: string): unknown {
  try {
    return parseStrictJson(text)
  } catch (cause) {
    const message = faultInJson(cause) ?? 'must be one JSON object'
    throw fieldProblem('metadata', message, { cause })
  }
}

/** Anything but digits is left for the validation to refuse. */
export const versionIn = (text: string | undefined): unknown =>
  /^\d{1,16}$/.test(text ?? '') ? Number(text) : text

/** The write of a form. Throws `invalid_body`. */
export function writeIn({ key, text, expectedVersion, ...sent }: Fields) {
  const metadata = sent.metadata || '{}'
  const write = validateBody(memoryWrite, {
    key,
    text,
    metadata: parseMetadata(metadata),
    expectedVersion: versionIn(expectedVersion),
  })
  return { write, metadata: compact(metadata) }
}

/** The page of the memory, with a note that it was saved. */
export const savedPath = (agentId: string, key: string, list: string | undefined): string =>
  `${memoryIn(agentId, key, listingIn(list))}&saved`

/** The same content is stored: the form was sent twice, or somebody else wrote the same. */
export const isThere = ({ code, extras }: Problem): boolean =>
  code === 'version_conflict' && extras.members?.sameContent === true

/** Hidden until the script `later` has something to report. */
export const meanwhile = (key: string, version: string | number): Html =>
  html`<div class="note warn" id="later" role="status" data-key="${key}" data-version="${version}" hidden></div>`

interface Editor {
  readonly save: string
  readonly leave: string
  /** Its key is typed too. */
  readonly isNew?: boolean
}

/** `typed`: the key, both texts, the version and the list. A script stores drafts by `data-draft`. */
export function editor(
  agentId: string,
  typed: Typed,
  { save, leave, isNew = false }: Editor,
): Html {
  const { key = '', expectedVersion = '', list } = typed.values
  const listing = listingIn(list)
  return html`<form
method="post" action="${agentPath(agentId)}/memory/${isNew ? 'new' : 'edit'}" class="stack editor" data-draft="${agentId} ${isNew ? '' : key}"${typed.refusal ? html` data-unsaved` : nothing}>
${isNew ? input({ name: 'key', label: 'Key', hint: KEY_HINT }, typed) : hidden('key', key)}
${hidden('expectedVersion', expectedVersion)}${listField(listing)}
${textarea({ name: 'text', label: 'Text', hint: `At most ${number(fields.text.maxBytes)} bytes.`, rows: 14 }, typed)}
<p class="hint" data-bytes-of="text" data-most="${fields.text.maxBytes}" hidden></p>
${textarea({ name: 'metadata', label: 'Metadata', hint: 'One JSON object. It may be left empty.', rows: 4, required: false }, typed)}
<p class="actions"><button>${save}</button>
<a class="button quiet" href="${isNew ? listPath(agentId, listing) : memoryIn(agentId, key, listing)}">${leave}</a></p>
</form>`
}
