/** A header that must come once came once. */
import { problem } from '../../errors.ts'
import type { Guard } from '../guard.ts'

const SINGLE = ['authorization', 'content-type', 'idempotency-key']

/** Repeated headers arrive joined by a comma, which none of these can hold. */
export const singleHeaders: Guard<unknown, object, void> = {
  name: 'single-headers',
  errors: ['duplicate_header'],
  run({ call }) {
    for (const name of SINGLE) {
      if (call.requestHeaders[name]?.includes(',')) {
        throw problem('duplicate_header', { detail: `Send the ${name} header once.` })
      }
    }
  },
}
