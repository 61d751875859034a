/** What a client would rather read (RFC 9110, section 12.5.1). */
import { parseAccept } from 'hono/utils/accept'
import type { Call } from './call.ts'

/** A browser names HTML; a program that names nothing, or JSON as readily, gets JSON. */
export function prefersHtml(call: Call): boolean {
  const accepted = parseAccept(call.requestHeaders.accept ?? '')
  const quality = (type: string): number => accepted.find((a) => a.type === type)?.q ?? 0
  return quality('text/html') > quality('application/json')
}
