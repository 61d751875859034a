/** What a birth is asked before its body is read. */
import { problem } from '../errors.ts'
import { type BudgetState, spend } from '../pipeline/budgets.ts'
import { clientOf, failAuthentication, type Guarded } from '../pipeline/failures.ts'
import type { Guard } from '../pipeline/guard.ts'
import { IDEMPOTENCY_KEY } from './birth-key.ts'
import { addressState } from './birth-limits.ts'
import type { Home } from './home.ts'

export const birthsOpen: Guard<Pick<Home, 'birthsEnabled'>, object, void> = {
  name: 'births-open',
  errors: ['births_disabled'],
  run(_, { birthsEnabled }) {
    if (!birthsEnabled) throw problem('births_disabled')
  },
}

/** The credential of a birth; one that is malformed counts as a failed authentication. */
export const idempotencyKey: Guard<Guarded, object, { readonly key: string }> = {
  name: 'idempotency-key',
  errors: ['invalid_idempotency_key', 'too_many_failures'],
  run({ call }, home) {
    const key = call.requestHeaders['idempotency-key']
    if (key === undefined) throw problem('invalid_idempotency_key')
    return IDEMPOTENCY_KEY.test(key)
      ? { key }
      : failAuthentication(call, home, 'invalid_idempotency_key')
  },
}

/** What is left of the births of this client's address, at least the one that is asked for. */
export const birthAllowance: Guard<Home, object, { readonly allowance: BudgetState }> = {
  name: 'birth-allowance',
  errors: ['rate_limited', 'storage_unavailable'],
  headers: ['RateLimit', 'RateLimit-Policy'],
  async run({ call }, home) {
    const allowance = await addressState(home, clientOf(call, home))
    spend(call, allowance)
    return { allowance }
  },
}
