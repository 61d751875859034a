/** A submitted HTML form -> its fields, bounded while it is read. */
import { type ErrorCode, problem } from '../errors.ts'
import { readBytes } from './body.ts'
import type { Call } from './call.ts'

/** What a form may be refused for while it is read. */
export const FORM_ERRORS: readonly ErrorCode[] = [
  'malformed_form',
  'unsupported_media_type',
  'body_too_large',
  'body_incomplete',
]

const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(;|$)/i

export type Fields = Readonly<Record<string, string>>

const malformed = (detail: string) => problem('malformed_form', { detail })

/** `URLSearchParams` puts U+FFFD where the bytes are not UTF-8; `decodeURIComponent` refuses. */
function decode(encoded: string): string {
  try {
    return decodeURIComponent(encoded.replaceAll('+', ' '))
  } catch {
    throw malformed('The form is not valid UTF-8. Send it from the page.')
  }
}

const source = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1')

/** Throws `unsupported_media_type`, `body_too_large`, `body_incomplete` or `malformed_form`. */
export async function readForm(call: Call, capBytes: number): Promise<Fields> {
  if (!FORM_TYPE.test(call.requestHeaders['content-type'] ?? '')) {
    throw problem('unsupported_media_type', { detail: 'Send the form from the page.' })
  }
  const fields: Record<string, string> = Object.create(null)
  for (const pair of source(await readBytes(call, capBytes))
    .split('&')
    .filter(Boolean)) {
    const [name = '', value = ''] = pair.split(/=(.*)/s).map(decode)
    if (name in fields) throw malformed(`The field "${name}" was sent twice. Send it once.`)
    if (value.includes('\0')) throw malformed(`The field "${name}" holds NUL. Remove it.`)
    fields[name] = value
  }
  return fields
}
