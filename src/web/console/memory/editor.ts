/** The form for writing a memory, and its validation. */
import { html } from 'hono/html'
import { type ErrorCode, Problem } from '../../../errors.ts'
import { fields } from '../../../fields.ts'
import { memoryWrite } from '../../../home/memories/memory.ts'
import type { Fields } from '../../../http/form.ts'
import { parseStrictJson } from '../../../http/json.ts'
import { compact } from '../../../json/members.ts'
import { validateBody } from '../../../pipeline/validate.ts'
import { fieldProblem, hidden, type Typed, textarea } from '../../layout/fields.ts'
import { type Html, nothing } from '../../layout/page.ts'
import { agentPath } from '../../layout/paths.ts'
import { number } from '../../layout/words.ts'
import { listField } from '../memories/list-pane.ts'
import { listingIn, memoryIn } from '../memories/listing.ts'

export const SAVE_ERRORS: readonly ErrorCode[] = [
  'memory_not_found',
  'version_conflict',
  'text_too_large',
  'metadata_too_large',
  'memory_quota_reached',
]

export const KEY_HINT = 'Letters, digits, and _ . - ; at most 100 of them.'

/** Longer pointers are left out of sentences. */
const MOST_SHOWN = 100

/** The error of JSON that cannot be stored; undefined if it is not JSON. */
export function faultInJson(error: unknown): string | undefined {
  const [fault] = (error instanceof Problem && error.extras.errors) || []
  if (!fault?.pointer) return undefined
  const { pointer, message } = fault
  const place = pointer.length > MOST_SHOWN ? 'a value in it' : `what is at "${pointer}"`
  return `is JSON that cannot be kept: ${place} ${message}`
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

const editPath = (agentId: string): string => `${agentPath(agentId)}/memory/edit`

const texts = (typed: Typed): Html => html`
${textarea({ name: 'text', label: 'Text', hint: `At most ${number(fields.text.maxBytes)} bytes.`, rows: 14 }, typed)}
<p class="hint" data-bytes-of="text" data-most="${fields.text.maxBytes}" hidden></p>
${textarea({ name: 'metadata', label: 'Metadata', hint: 'One JSON object; empty where there is nothing to say.', rows: 4, required: false }, typed)}`

interface Form {
  readonly agentId: string
  readonly action: string
  /** '' for a new one. */
  readonly key: string
  /** Hidden fields, and those above the texts. */
  readonly above: Html
  readonly typed: Typed
  readonly save: string
  readonly leave: Html
}

/** A script stores drafts by `data-draft` and the field `expectedVersion`. */
export const writing = ({
  agentId,
  action,
  key,
  above,
  typed,
  save,
  leave,
}: Form): Html => html`<form
method="post" action="${action}" class="stack editor" data-draft="${agentId} ${key}"${typed.refusal ? html` data-unsaved` : nothing}>
${above}${texts(typed)}
<p class="actions"><button>${save}</button>
${leave}</p>
</form>`

/** For an existing memory. */
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
