/** What holds for the private half as a whole. */
import { problem } from '../../errors.ts'
import type { Guard } from '../guard.ts'

/** Nothing of the home is served while its operator has turned it off. */
export const enabled: Guard<{ readonly enabled: boolean }, object, void> = {
  name: 'enabled',
  errors: ['home_disabled'],
  run(_, deps) {
    if (!deps.enabled) throw problem('home_disabled')
  },
}

/** What is answered from here on is for its reader alone: no cache keeps it. */
export const noStore: Guard<unknown, object, void> = {
  name: 'no-store',
  errors: [],
  headers: ['Cache-Control'],
  run({ call }) {
    call.responseHeaders['Cache-Control'] = 'no-store'
  },
}
