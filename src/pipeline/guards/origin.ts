/** Origin checks and CORS: for the home, for the gateway, and for forms. */
import { problem } from '../../errors.ts'
import { answer, type Call } from '../../http/call.ts'
import { mayCompress } from '../../http/compress.ts'
import { varyBy } from '../../http/negotiate.ts'
import type { Guard } from '../guard.ts'
import type { OriginPolicy } from '../origins.ts'

const EXPOSED = 'ETag, Preference-Applied, Retry-After, RateLimit, RateLimit-Policy, X-Request-Id'

/** Throws `origin_denied`. A request without Origin is not from another site's page. */
function checkOrigin(call: Call, policy: OriginPolicy): void {
  const { host, requestHeaders, responseHeaders } = call
  const { origin } = requestHeaders
  if (origin === undefined || policy.isOwnOrigin(origin, host)) return
  if (!policy.isAllowed(origin)) throw problem('origin_denied')
  responseHeaders['Access-Control-Allow-Origin'] = origin
  responseHeaders['Access-Control-Expose-Headers'] = EXPOSED
  varyBy(call, 'Origin')
}

const ASKED_HEADERS =
  'Agent-Home-Structured, Agent-Run, Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Prefer'

/** The interface's "disallowed origin yields 403", and CORS for configured origins. */
export const origin: Guard<{ readonly origins: OriginPolicy }, object, void> = {
  name: 'origin',
  errors: ['origin_denied'],
  headers: ['Access-Control-Allow-Origin', 'Access-Control-Expose-Headers', 'Vary'],
  run({ call }, { origins }) {
    checkOrigin(call, origins)
  },
  preflight(call, { origins }, allow) {
    checkOrigin(call, origins)
    const headers = call.responseHeaders
    if (headers['Access-Control-Allow-Origin']) {
      headers['Access-Control-Allow-Methods'] = allow
      headers['Access-Control-Allow-Headers'] = ASKED_HEADERS
      headers['Access-Control-Max-Age'] = '600'
    }
    return answer(call, 204, null)
  },
}

const DAY_SECONDS = '86400'

export function letAllRead({ responseHeaders }: Call): void {
  responseHeaders['Access-Control-Allow-Origin'] = '*'
  responseHeaders['Access-Control-Expose-Headers'] = 'ETag, Retry-After, X-Request-Id'
}

/** CORS for endpoints open to every origin. They use no credentials, so compression is safe too. */
export const openToAll: Guard<unknown, object, void> = {
  name: 'open-to-all',
  errors: [],
  headers: [
    'Access-Control-Allow-Origin',
    'Access-Control-Expose-Headers',
    'Content-Encoding',
    'Vary',
  ],
  run({ call }) {
    letAllRead(call)
    mayCompress(call)
  },
  onRefusal: letAllRead,
  preflight(call, _, allow) {
    letAllRead(call)
    call.responseHeaders['Access-Control-Allow-Methods'] = allow
    call.responseHeaders['Access-Control-Allow-Headers'] =
      'Content-Type, If-None-Match, Last-Event-ID'
    call.responseHeaders['Access-Control-Max-Age'] = DAY_SECONDS
    return answer(call, 204, null)
  },
}

/** Values of Sec-Fetch-Site for navigation and for our own pages. */
const OURS = new Set(['same-origin', 'none'])

/**
 * Older browsers send only Origin or Referer; programs send neither and have no cookie of ours. A
 * browser that hides the referrer sends `null`, but still reports the same site.
 */
function isFromOurPage({ host, requestHeaders }: Call, policy: OriginPolicy): boolean {
  const { origin, 'sec-fetch-site': site } = requestHeaders
  if (site !== undefined && !OURS.has(site)) return false
  if (origin === undefined) return true
  return origin === 'null'
    ? site !== undefined && policy.isOwnHost(host)
    : policy.isOwnOrigin(origin, host)
}

const FOREIGN_FORM =
  'Submit the form from this service’s own page. If you did, the operator of the service must set PUBLIC_URL to its address.'

/** Refuses requests from pages of other sites, for everything that a cookie permits (CSRF). */
export const sameSite: Guard<{ readonly origins: OriginPolicy }, object, void> = {
  name: 'same-site',
  errors: ['origin_denied'],
  run({ call }, { origins }) {
    if (!isFromOurPage(call, origins)) throw problem('origin_denied', { detail: FOREIGN_FORM })
  },
}
