/** Which requests a page of another site may not make: the guard of everything that has a cookie. */
import { problem } from '../../errors.ts'
import type { Call } from '../../http/call.ts'
import type { OriginPolicy } from './origin.ts'

/** What the address bar and our own pages send. */
const OURS = new Set(['same-origin', 'none'])

const hostOf = (url: string): string | undefined => URL.parse(url)?.host

/** Older browsers say only where the form was; programs say nothing and carry no cookie of ours. */
function sameHost(call: Call, { publicUrl }: OriginPolicy): boolean {
  const { origin } = call.requestHeaders
  if (origin === undefined) return true
  const host = hostOf(origin)
  return (
    host !== undefined &&
    (host === hostOf(`http://${call.host}`) || host === hostOf(publicUrl ?? ''))
  )
}

/** Throws `origin_denied`. For every request that changes something. */
export function refuseOtherSites(call: Call, policy: OriginPolicy): void {
  const site = call.requestHeaders['sec-fetch-site']
  const ours = site === undefined ? sameHost(call, policy) : OURS.has(site)
  if (!ours)
    throw problem('origin_denied', { detail: 'Send the form from this service’s own page.' })
}
