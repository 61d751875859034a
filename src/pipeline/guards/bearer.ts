/** The bearer token of a request (RFC 6750). */
import { problem } from '../../errors.ts'
import type { Call } from '../../http/call.ts'

const SINGLE = ['authorization', 'content-type', 'idempotency-key']

/** Repeated headers arrive joined by a comma, which none of these can hold. */
export function refuseDuplicateHeaders(call: Call): void {
  for (const name of SINGLE) {
    if (call.requestHeaders[name]?.includes(',')) {
      throw problem('duplicate_header', { detail: `Send the ${name} header once.` })
    }
  }
}

/** Tokens in addresses end up in logs and histories. */
export function refuseTokenInQuery(call: Call): void {
  if (/(?:^|&)(?:access_token|token)=|ah[ao]_[0-9A-Za-z]{20}/.test(call.search)) {
    throw problem('token_in_query')
  }
}

/** The presented token, or undefined where there is none. */
export function bearerToken(call: Call): string | undefined {
  const header = call.requestHeaders.authorization
  return header === undefined ? undefined : /^bearer +(.*)$/i.exec(header)?.[1]
}
