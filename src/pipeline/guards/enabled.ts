/** Nothing of the home is served while its operator has turned it off. */
import { problem } from '../../errors.ts'
import type { Guard } from '../guard.ts'

export const enabled: Guard<{ readonly enabled: boolean }, object, void> = {
  name: 'enabled',
  errors: ['home_disabled'],
  run(_, deps) {
    if (!deps.enabled) throw problem('home_disabled')
  },
}
