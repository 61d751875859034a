/** Guards that put anonymous requests through admission control. */
import type { AdmissionControl } from '../admission-control.ts'
import type { Endings, Guard } from '../guard.ts'

/** Waits until the work may start, so that it cannot starve the home. */
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

/** Reads the body first, so that a slow sender does not occupy a place in the queue. */
export const received: Guard<unknown, object, void> = {
  name: 'received',
  // Including errors of the endpoint's body.
  errors: [],
  async run({ receive }) {
    await receive?.()
  },
}
