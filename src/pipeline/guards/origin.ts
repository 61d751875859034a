/** The origin check (the interface's "disallowed origin yields 403") and CORS for listed origins. */
import { problem } from '../../errors.ts'
import { answer, type Call } from '../../http/call.ts'
import type { Guard } from '../guard.ts'

export interface OriginPolicy {
  /** The address that people see, where it differs from the Host header's. */
  readonly publicUrl?: string | undefined
  readonly allowed: readonly string[]
}

const EXPOSED = 'ETag, Retry-After, RateLimit, RateLimit-Policy, X-Request-Id'

const own = (host: string, origin: string, policy: OriginPolicy): boolean =>
  origin === URL.parse(policy.publicUrl ?? `http://${host}`)?.origin

/** Throws `origin_denied`. A request without Origin does not come from another site's page. */
function checkOrigin({ host, requestHeaders, responseHeaders }: Call, policy: OriginPolicy): void {
  const { origin } = requestHeaders
  if (origin === undefined || own(host, origin, policy)) return
  if (!policy.allowed.includes(origin)) throw problem('origin_denied')
  responseHeaders['Access-Control-Allow-Origin'] = origin
  responseHeaders['Access-Control-Expose-Headers'] = EXPOSED
  responseHeaders.Vary = 'Origin'
}

const ASKED_HEADERS = 'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match'

export const origin: Guard<{ readonly origins: OriginPolicy }, object, void> = {
  name: 'origin',
  errors: ['origin_denied'],
  headers: ['Access-Control-Allow-Origin', 'Access-Control-Expose-Headers', 'Vary'],
  run({ call }, { origins }) {
    checkOrigin(call, origins)
  },
  /** What a browser asks before it sends a credential across origins. */
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
