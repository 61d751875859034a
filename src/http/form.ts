/** Reads a submitted HTML form, with limits. */
import { type ErrorCode, problem } from '../errors.ts'
import { readBytes } from './body.ts'
import type { Call } from './call.ts'

export const FORM_ERRORS: readonly ErrorCode[] = [
  'malformed_form',
  'unsupported_media_type',
  'body_too_large',
  'body_incomplete',
]

const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(;|$)/i

/** No form of ours has half as many. */
const MOST_FIELDS = 64

export type Fields = Readonly<Record<string, string>>

const malformed = (detail: string) => problem('malformed_form', { detail })

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Invalid UTF-8 must not become U+FFFD. */
function decoded<T>(decode: () => T): T {
  try {
    return decode()
  } catch {
    throw malformed('The form is not valid UTF-8. Send it from the page.')
  }
}

const textOf = (encoded: string): string =>
  decoded(() => decodeURIComponent(encoded.replaceAll('+', ' ')))

/** Throws `unsupported_media_type`, `body_too_large`, `body_incomplete` or `malformed_form`. */
export async function readForm(call: Call, capBytes: number): Promise<Fields> {
  if (!FORM_TYPE.test(call.requestHeaders['content-type'] ?? '')) {
    throw problem('unsupported_media_type', { detail: 'Send the form from the page.' })
  }
  const fields: Record<string, string> = Object.create(null)
  const bytes = await readBytes(call, capBytes)
  const pairs = decoded(() => utf8.decode(bytes)).split('&', MOST_FIELDS + 1)
  if (pairs.length > MOST_FIELDS) throw malformed('The form has more fields than any page.')
  for (const pair of pairs.filter(Boolean)) {
    const [name = '', value = ''] = pair.split(/=(.*)/s).map(textOf)
    if (name.includes('\0')) throw malformed('The name of a field holds NUL. Remove it.')
    if (name in fields) throw malformed(`The field "${name}" was sent twice. Send it once.`)
    if (value.includes('\0')) throw malformed(`The field "${name}" holds NUL. Remove it.`)
    fields[name] = value
  }
  return fields
}
