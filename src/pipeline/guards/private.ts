/** Guards of all private endpoints. */
import { problem } from '../../errors.ts'
import type { Guard } from '../guard.ts'

/** Refuses every request of the home while HOME_ENABLED is false. */
export const enabled: Guard<{ readonly enabled: boolean }, object, void> = {
  name: 'enabled',
  errors: ['home_disabled'],
  run(_, deps) {
    if (!deps.enabled) throw problem('home_disabled')
  },
}

/** Forbids caching of private responses. */
export const noStore: Guard<unknown, object, void> = {
  name: 'no-store',
  errors: [],
  headers: ['Cache-Control'],
  run({ call }) {
    call.responseHeaders['Cache-Control'] = 'no-store'
  },
}
