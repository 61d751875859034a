/** Waits until the work may begin, so that the home beside it is never starved. */
import type { AdmissionControl } from '../admission-control.ts'
import type { Endings, Guard } from '../guard.ts'

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
