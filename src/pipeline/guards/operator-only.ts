/** Only the operator's token may pass. */
import type { Guard } from '../guard.ts'
import type { Identified } from './bearer.ts'
import { type Announced, refuseUnspent, type WithBudgets } from './budget.ts'

export const operatorOnly: Guard<WithBudgets, Announced & Identified, void> = {
  name: 'operator-only',
  errors: ['insufficient_scope'],
  security: ['operatorKey'],
  run(request, deps) {
    if (request.identity.kind === 'operator') return
    return refuseUnspent(request, deps, 'insufficient_scope')
  },
}
