/** Budgets that are counted in the memory of this one process. */
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { BudgetPolicy, BudgetState, Counting } from './budgets.ts'

const stateOf = (policy: BudgetPolicy, counted: RateLimiterRes | null): BudgetState => ({
  policy,
  remaining: counted?.remainingPoints ?? policy.quota,
  resetSeconds: counted ? Math.ceil(counted.msBeforeNext / 1000) : policy.windowSeconds,
  allowed: (counted?.consumedPoints ?? 0) <= policy.quota,
})

export function countInMemory(): Counting {
  const limiters = new Map<BudgetPolicy, RateLimiterMemory>()

  function limiterOf(policy: BudgetPolicy): RateLimiterMemory {
    const { quota: points, windowSeconds: duration } = policy
    const found = limiters.get(policy) ?? new RateLimiterMemory({ points, duration })
    limiters.set(policy, found)
    return found
  }

  return {
    async take(policy, key) {
      try {
        return stateOf(policy, await limiterOf(policy).consume(key))
      } catch (over) {
        if (over instanceof RateLimiterRes) return stateOf(policy, over)
        throw over
      }
    },
    async look(policy, key) {
      const counted = await limiterOf(policy).get(key)
      const allowed = (counted?.consumedPoints ?? 0) < policy.quota
      return { ...stateOf(policy, counted), allowed }
    },
  }
}
