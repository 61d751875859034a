/** Which requests a page of another site may not make: the guard of everything that has a cookie. */
import { problem } from '../../errors.ts'
import type { Call } from '../../http/call.ts'
import type { Guard } from '../guard.ts'
import type { OriginPolicy } from './origin.ts'

/** What the address bar and our own pages send. */
const OURS = new Set(['same-origin', 'none'])

const hostOf = (url: string): string | undefined => URL.parse(url)?.host

/** Older browsers say only where the form was; programs say nothing and carry no cookie of ours. */
function sameHost({ host, requestHeaders }: Call, { publicUrl }: OriginPolicy): boolean {
  const { origin } = requestHeaders
  if (origin === undefined) return true
  const from = hostOf(origin)
  return (
    from !== undefined && (from === hostOf(`http://${host}`) || from === hostOf(publicUrl ?? ''))
  )
}

/** For every request that changes something. */
export const sameSite: Guard<{ readonly origins: OriginPolicy }, object, void> = {
  name: 'same-site',
  errors: ['origin_denied'],
  run({ call }, { origins }) {
    const site = call.requestHeaders['sec-fetch-site']
    const ours = site === undefined ? sameHost(call, origins) : OURS.has(site)
    if (!ours) {
      throw problem('origin_denied', { detail: 'Send the form from this service’s own page.' })
    }
  },
}
