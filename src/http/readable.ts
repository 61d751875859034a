/**
 * Validation of URLs and headers: UTF-8 without NUL. A database refuses anything else, and
 * replacing it would change the text.
 */
import { isUtf8 } from 'node:buffer'
import { type FieldError, problem } from '../errors.ts'
import type { Incoming } from './call.ts'

const NOT_UTF_8 = 'is not UTF-8: encode it as UTF-8'
const HAS_NUL = 'holds NUL (U+0000): remove it'

/** Nothing to decode, and no invalid characters. */
const PLAIN = /^[!-$&-~]*$/

const ENCODED = /(?:%[0-9a-f]{2})+/gi

function isDecodable(run: string): boolean {
  try {
    decodeURIComponent(run)
    return true
  } catch {
    return false
  }
}

/** The error of a URL part. A lone `%` stands for itself, as in the URL standard. */
function faultOf(part: string): string | undefined {
  if (PLAIN.test(part)) return undefined
  const runs = part.match(ENCODED) ?? []
  if (!part.isWellFormed() || !runs.every(isDecodable)) return NOT_UTF_8
  return part.includes('\0') || part.includes('%00') ? HAS_NUL : undefined
}

/** Invalid parameters, by name if that is readable. */
function faultsOf(search: string): FieldError[] {
  return search.split('&').flatMap((pair) => {
    const message = faultOf(pair)
    const name = pair.split('=', 1)[0] ?? ''
    const readable = faultOf(name) ? '' : [...new URLSearchParams(name).keys()].join()
    return message ? [{ pointer: `?${readable}`, message }] : []
  })
}

/** Throws `invalid_query`. */
export function requireReadableQuery(search: string): void {
  const errors = PLAIN.test(search) ? [] : faultsOf(search)
  if (errors.length > 0) throw problem('invalid_query', { errors })
}

const PLAIN_HEADER = /^[\t -~]*$/

/** Headers arrive as Latin-1. */
function faultOfHeader(value: string): string | undefined {
  if (PLAIN_HEADER.test(value)) return undefined
  if (value.includes('\0')) return HAS_NUL
  return isUtf8(Buffer.from(value, 'latin1')) ? undefined : NOT_UTF_8
}

const unreadable = (what: string, fault: string) =>
  problem('malformed_request', { detail: `${what} ${fault}.` })

/** Throws `malformed_request`. */
export function requireReadable({ path, requestHeaders }: Incoming): void {
  const fault = faultOf(path)
  if (fault) throw unreadable('The path', fault)
  for (const name in requestHeaders) {
    const wrong = faultOfHeader(requestHeaders[name] ?? '')
    if (wrong) throw unreadable(`The header ${name}`, wrong)
  }
}
