/** What the forms that write a memory have in common. */
import { type ErrorCode, Problem, problem } from '../../../errors.ts'
import { memoryWrite } from '../../../home/memories/memory.ts'
import type { Fields } from '../../../http/form.ts'
import { parseStrictJson } from '../../../http/json.ts'
import { compact } from '../../../json/members.ts'
import { WRITE_ERRORS } from '../../../pipeline/problem.ts'
import { validateBody } from '../../../pipeline/validate.ts'

export const SAVE_ERRORS: readonly ErrorCode[] = [
  ...WRITE_ERRORS,
  'invalid_body',
  'invalid_token',
  'memory_not_found',
  'version_conflict',
  'text_too_large',
  'metadata_too_large',
  'memory_quota_reached',
]

export const KEY_HINT = 'Letters, digits, and _ . - ; at most 100 of them.'

/** Characters of a pointer that a sentence can bear. */
const MOST_SHOWN = 100

/** What is wrong with a value that is JSON and cannot be kept; undefined of what is no JSON. */
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
    throw problem('invalid_body', { errors: [{ pointer: '/metadata', message }], cause })
  }
}

/** What is no whole number in digits is left for the validation to refuse. */
export const versionIn = (text: string | undefined): unknown =>
  /^\d{1,16}$/.test(text ?? '') ? Number(text) : text

/** What a form writes. Throws `invalid_body`. */
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

/** What is stored is what was sent: the form came twice, or somebody wrote the same. */
export const isThere = ({ code, extras }: Problem): boolean =>
  code === 'version_conflict' && extras.members?.sameContent === true
