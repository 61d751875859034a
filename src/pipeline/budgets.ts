/** Named budgets of requests in a window, counted by key; the headers that show them. */
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { problem } from '../errors.ts'
import type { Call } from '../http/call.ts'

export interface BudgetPolicy {
  readonly name: string
  /** Requests in a window; 0 means without limit. */
  readonly quota: number
  readonly windowSeconds: number
}

export interface Standing {
  readonly policy: BudgetPolicy
  readonly remaining: number
  readonly resetSeconds: number
  readonly allowed: boolean
}

export interface Budgets {
  /** Takes one from the budget. */
  take(name: string, key: string): Promise<Standing>
  /** Looks without taking. */
  look(name: string, key: string): Promise<Standing>
}

/** RateLimit-Policy, as in draft 11 of the IETF's RateLimit header fields. */
export function showPolicy(call: Call, { name, quota, windowSeconds }: BudgetPolicy): void {
  if (quota > 0)
    call.responseHeaders['RateLimit-Policy'] = `"${name}";q=${quota};w=${windowSeconds}`
}

/** RateLimit beside its policy, from the same draft. */
export function showStanding(call: Call, { policy, remaining, resetSeconds }: Standing): void {
  showPolicy(call, policy)
  if (policy.quota > 0)
    call.responseHeaders.RateLimit = `"${policy.name}";r=${remaining};t=${resetSeconds}`
}

export const retryAfter = (standing: Standing): Record<string, string> => ({
  'Retry-After': String(Math.max(1, standing.resetSeconds)),
})

/** Throws `rate_limited` when the budget is used up; shows where it stands either way. */
export function spend(call: Call, standing: Standing): void {
  showStanding(call, standing)
  if (!standing.allowed) throw problem('rate_limited', { headers: retryAfter(standing) })
}

const standingOf = (policy: BudgetPolicy, counted: RateLimiterRes | null): Standing => ({
  policy,
  remaining: counted?.remainingPoints ?? policy.quota,
  resetSeconds: counted ? Math.ceil(counted.msBeforeNext / 1000) : policy.windowSeconds,
  allowed: policy.quota === 0 || (counted?.consumedPoints ?? 0) <= policy.quota,
})

/** Budgets of this one process. */
export function memoryBudgets(policies: readonly BudgetPolicy[]): Budgets {
  const limiters = new Map(
    policies.map((policy) => {
      const options = { points: policy.quota, duration: policy.windowSeconds }
      return [policy.name, { policy, limiter: new RateLimiterMemory(options) }]
    }),
  )
  const find = (name: string) => {
    const found = limiters.get(name)
    if (!found) throw new Error(`no budget is named ${name}`)
    return found
  }
  return {
    async take(name, key) {
      const { policy, limiter } = find(name)
      if (policy.quota === 0) return standingOf(policy, null)
      try {
        return standingOf(policy, await limiter.consume(key))
      } catch (over) {
        if (over instanceof RateLimiterRes) return standingOf(policy, over)
        throw over
      }
    },
    async look(name, key) {
      const { policy, limiter } = find(name)
      const counted = await limiter.get(key)
      const allowed = policy.quota === 0 || (counted?.consumedPoints ?? 0) < policy.quota
      return { ...standingOf(policy, counted), allowed }
    },
  }
}
