/** The narrow door of what is open to strangers. */
import type { AdmissionControl } from '../admission-control.ts'
import type { Endings, Guard } from '../guard.ts'

/** Waits until the work may begin, so that the home beside it is never starved. */
export const admission: Guard<
  { readonly admission: AdmissionControl },
  object,
  Pick<Endings, 'leave'>
> = {
  name: 'admission',
  errors: ['overloaded'],
  ends: true,
  run: async (_, deps) => ({ leave: await deps.admission.enter() }),
}

/** The body is read here, so that nobody stands at the door while still sending. */
export const received: Guard<unknown, object, void> = {
  name: 'received',
  // Those of the body that the endpoint declares.
  errors: [],
  async run({ receive }) {
    await receive?.()
  },
}
