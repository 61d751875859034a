/** CORS for what is open to every origin, without credentials. */
import { type Answer, answer, type Call } from '../../http/call.ts'

const DAY_SECONDS = '86400'

export function openToAll(call: Call): void {
  call.responseHeaders['Access-Control-Allow-Origin'] = '*'
  call.responseHeaders['Access-Control-Expose-Headers'] = 'ETag, Retry-After, X-Request-Id'
}

/** OPTIONS: what a browser asks first. */
export function openPreflight(call: Call, allow: string): Answer {
  openToAll(call)
  call.responseHeaders['Access-Control-Allow-Methods'] = allow
  call.responseHeaders['Access-Control-Allow-Headers'] =
    'Content-Type, If-None-Match, Last-Event-ID'
  call.responseHeaders['Access-Control-Max-Age'] = DAY_SECONDS
  return answer(call, 204, null)
}
