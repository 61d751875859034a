/** A paused agent goes no further; its operator does. */
import type { Guard } from '../guard.ts'
import type { Identified } from './bearer.ts'
import { type Announced, refuseUnspent, type WithBudgets } from './budget.ts'

export const notPaused: Guard<WithBudgets, Announced & Identified, void> = {
  name: 'not-paused',
  errors: ['agent_paused'],
  run(request, deps) {
    const { kind, status } = request.identity
    if (kind === 'operator' || status === 'active') return
    return refuseUnspent(request, deps, 'agent_paused')
  },
}
