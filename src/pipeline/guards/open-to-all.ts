/** CORS for what is open to every origin, without credentials. */
import { answer, type Call } from '../../http/call.ts'
import type { Guard } from '../guard.ts'

const DAY_SECONDS = '86400'

export function letAllRead({ responseHeaders }: Call): void {
  responseHeaders['Access-Control-Allow-Origin'] = '*'
  responseHeaders['Access-Control-Expose-Headers'] = 'ETag, Retry-After, X-Request-Id'
}

export const openToAll: Guard<unknown, object, void> = {
  name: 'open-to-all',
  errors: [],
  headers: ['Access-Control-Allow-Origin', 'Access-Control-Expose-Headers'],
  run({ call }) {
    letAllRead(call)
  },
  preflight(call, _, allow) {
    letAllRead(call)
    call.responseHeaders['Access-Control-Allow-Methods'] = allow
    call.responseHeaders['Access-Control-Allow-Headers'] =
      'Content-Type, If-None-Match, Last-Event-ID'
    call.responseHeaders['Access-Control-Max-Age'] = DAY_SECONDS
    return answer(call, 204, null)
  },
}
