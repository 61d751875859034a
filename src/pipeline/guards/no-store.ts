/** What is answered from here on is for its reader alone: no cache keeps it. */
import type { Guard } from '../guard.ts'

export const noStore: Guard<unknown, object, void> = {
  name: 'no-store',
  errors: [],
  headers: ['Cache-Control'],
  run({ call }) {
    call.responseHeaders['Cache-Control'] = 'no-store'
  },
}
