/** The origin check (the interface's "disallowed origin yields 403") and CORS for listed origins. */
import { problem } from '../../errors.ts'
import { type Answer, answer, type Call } from '../../http/call.ts'

export interface OriginPolicy {
  /** The address that people see, where it differs from the Host header's. */
  readonly publicUrl?: string | undefined
  readonly allowed: readonly string[]
}

const EXPOSED = 'ETag, Retry-After, RateLimit, RateLimit-Policy, X-Request-Id'

const own = (call: Call, origin: string, policy: OriginPolicy): boolean =>
  origin === URL.parse(policy.publicUrl ?? `http://${call.host}`)?.origin

/** Throws `origin_denied`. A request without Origin does not come from another site's page. */
export function checkOrigin(call: Call, policy: OriginPolicy): void {
  const { origin } = call.requestHeaders
  if (origin === undefined || own(call, origin, policy)) return
  if (!policy.allowed.includes(origin)) throw problem('origin_denied')
  call.responseHeaders['Access-Control-Allow-Origin'] = origin
  call.responseHeaders['Access-Control-Expose-Headers'] = EXPOSED
  call.responseHeaders.Vary = 'Origin'
}

const ASKED_HEADERS = 'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match'

/** OPTIONS: what a browser asks before it sends a credential across origins. */
export const preflight =
  (policy: OriginPolicy) =>
  (call: Call, allow: string): Answer => {
    checkOrigin(call, policy)
    if (call.responseHeaders['Access-Control-Allow-Origin']) {
      call.responseHeaders['Access-Control-Allow-Methods'] = allow
      call.responseHeaders['Access-Control-Allow-Headers'] = ASKED_HEADERS
      call.responseHeaders['Access-Control-Max-Age'] = '600'
    }
    return answer(call, 204, null)
  }
