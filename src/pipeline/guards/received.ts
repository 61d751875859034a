/** The body is read here, so that nobody stands at a narrow door while still sending. */
import type { Guard } from '../guard.ts'

export const received: Guard<unknown, object, void> = {
  name: 'received',
  // Those of the body that the endpoint declares.
  errors: [],
  async run({ receive }) {
    await receive?.()
  },
}
