/** Named budgets: requests per window, counted by key, and the headers that show them. */
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { type ErrorCode, type Problem, type ProblemExtras, problem } from '../errors.ts'
import type { Call } from '../http/call.ts'

export interface BudgetPolicy {
  readonly name: string
  /** Requests per window; 0 means no limit. */
  readonly quota: number
  readonly windowSeconds: number
}

export interface BudgetState {
  readonly policy: BudgetPolicy
  readonly remaining: number
  readonly resetSeconds: number
  readonly allowed: boolean
}

/** How requests are counted: in this process, or by all processes of a store. */
export interface Counting {
  /** Takes one from the budget. Only called for policies with a quota, like `look`. */
  take(policy: BudgetPolicy, key: string): Promise<BudgetState>
  /** Reads without taking. */
  look(policy: BudgetPolicy, key: string): Promise<BudgetState>
}

const stateOf = (
  policy: BudgetPolicy,
  counted: RateLimiterRes | null,
  allowed: boolean,
): BudgetState => ({
  policy,
  remaining: counted?.remainingPoints ?? policy.quota,
  resetSeconds: counted ? Math.ceil(counted.msBeforeNext / 1000) : policy.windowSeconds,
  allowed,
})

/** Counted in this process's memory. */
export function countInMemory(): Counting {
  const limiters = new Map<BudgetPolicy, RateLimiterMemory>()

  function limiterOf(policy: BudgetPolicy): RateLimiterMemory {
    const { quota: points, windowSeconds: duration } = policy
    // Without a prefix, which would make another string of the key for each request.
    const options = { points, duration, keyPrefix: '' }
    const found = limiters.get(policy) ?? new RateLimiterMemory(options)
    limiters.set(policy, found)
    return found
  }

  return {
    async take(policy, key) {
      try {
        return stateOf(policy, await limiterOf(policy).consume(key), true)
      } catch (over) {
        if (over instanceof RateLimiterRes) return stateOf(policy, over, false)
        throw over
      }
    },
    async look(policy, key) {
      const counted = await limiterOf(policy).get(key)
      return stateOf(policy, counted, (counted?.consumedPoints ?? 0) < policy.quota)
    },
  }
}

const unlimited = (policy: BudgetPolicy): BudgetState => ({
  policy,
  remaining: 0,
  resetSeconds: policy.windowSeconds,
  allowed: true,
})

export function createBudgets(policies: readonly BudgetPolicy[], counting: Counting) {
  const byName = new Map(policies.map((policy) => [policy.name, policy]))
  const policy = (name: string): BudgetPolicy => {
    const found = byName.get(name)
    if (!found) throw new Error(`no budget is named ${name}`)
    return found
  }
  const asked =
    (ask: Counting['take']) =>
    (name: string, key: string): BudgetState | Promise<BudgetState> => {
      const found = policy(name)
      return found.quota === 0 ? unlimited(found) : ask(found, key)
    }
  return { policy, take: asked(counting.take), look: asked(counting.look) }
}

export type Budgets = ReturnType<typeof createBudgets>

/** RateLimit-Policy, as in draft 11 of the IETF's RateLimit header fields. */
export function showPolicy({ responseHeaders }: Call, policy: BudgetPolicy): void {
  const { name, quota, windowSeconds } = policy
  if (quota > 0) responseHeaders['RateLimit-Policy'] = `"${name}";q=${quota};w=${windowSeconds}`
}

/** RateLimit beside its policy, from the same draft. */
export function showState(call: Call, { policy, remaining, resetSeconds }: BudgetState): void {
  showPolicy(call, policy)
  const { name, quota } = policy
  if (quota > 0) call.responseHeaders.RateLimit = `"${name}";r=${remaining};t=${resetSeconds}`
}

export const retryAfter = ({ resetSeconds }: BudgetState): Record<string, string> => ({
  'Retry-After': String(Math.max(1, resetSeconds)),
})

/** Shows the budget, and gives the problem of a request that it does not allow. */
export function overBudget(
  call: Call,
  state: BudgetState,
  code: ErrorCode = 'rate_limited',
  extras: ProblemExtras = {},
): Problem {
  showState(call, state)
  return problem(code, { ...extras, headers: retryAfter(state) })
}

/** Throws the error, `rate_limited` by default, if the budget is used up; shows it in both cases. */
export function spend(call: Call, state: BudgetState, code?: ErrorCode): void {
  if (!state.allowed) throw overBudget(call, state, code)
  showState(call, state)
}
