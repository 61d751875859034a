/** Content negotiation (RFC 9110, section 12.5). */
import { parseAccept } from 'hono/utils/accept'
import type { Call } from './call.ts'

/** The preferred one of the media types that the client names; of equals the first offered. */
export function preferred<Type extends string>(
  { requestHeaders }: Pick<Call, 'requestHeaders'>,
  offered: readonly Type[],
): Type | undefined {
  const accepted = parseAccept(requestHeaders.accept ?? '')
  const quality = (type: string): number => accepted.find((a) => a.type === type)?.q ?? 0
  const best = Math.max(...offered.map(quality))
  return best > 0 ? offered.find((type) => quality(type) === best) : undefined
}

/** A browser names HTML; a program that names nothing, or JSON as readily, gets JSON. */
export const prefersHtml = (call: Call): boolean =>
  preferred(call, ['application/json', 'text/html']) === 'text/html'

/** Adds a request header to Vary. */
export function varyBy({ responseHeaders }: Pick<Call, 'responseHeaders'>, header: string): void {
  const known = responseHeaders.Vary?.split(', ') ?? []
  responseHeaders.Vary = [...new Set([...known, header])].join(', ')
}
