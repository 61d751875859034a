/** Named budgets: requests per window, counted by key, and the headers that show them. */
import { type ErrorCode, type Problem, type ProblemExtras, problem } from '../errors.ts'
import type { Call } from '../http/call.ts'
import type { Timers } from '../timers.ts'

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

/** Nothing was taken; or its quota is 0, which is no limit. */
const whole = (policy: BudgetPolicy): BudgetState => ({
  policy,
  remaining: policy.quota,
  resetSeconds: policy.windowSeconds,
  allowed: true,
})

interface Counted {
  taken: number
  readonly endsAt: number
}

const stateOf = (
  policy: BudgetPolicy,
  { taken, endsAt }: Counted,
  now: number,
  allowed: boolean,
): BudgetState => ({
  policy,
  remaining: Math.max(0, policy.quota - taken),
  // Whole milliseconds, because a sum of fractions may be a trace longer than its window.
  resetSeconds: Math.ceil(Math.round(endsAt - now) / 1_000),
  allowed,
})

/** Counted in this process's memory, for as long as a window lasts. */
export function countInMemory({ stopwatch, after }: Timers): Counting {
  const counted = new Map<BudgetPolicy, Map<string, Counted>>()

  function keysOf(policy: BudgetPolicy): Map<string, Counted> {
    const found = counted.get(policy) ?? new Map<string, Counted>()
    counted.set(policy, found)
    return found
  }

  function begin({ windowSeconds }: BudgetPolicy, keys: Map<string, Counted>, key: string) {
    const ms = windowSeconds * 1_000
    const begun: Counted = { taken: 0, endsAt: stopwatch() + ms }
    keys.set(key, begun)
    after(ms, () => {
      if (keys.get(key) === begun) keys.delete(key)
    })
    return begun
  }

  /** Its timer may be late. */
  function current(keys: Map<string, Counted>, key: string): Counted | undefined {
    const found = keys.get(key)
    return found && found.endsAt > stopwatch() ? found : undefined
  }

  return {
    async take(policy, key) {
      const keys = keysOf(policy)
      const found = current(keys, key) ?? begin(policy, keys, key)
      found.taken++
      return stateOf(policy, found, stopwatch(), found.taken <= policy.quota)
    },
    async look(policy, key) {
      const found = current(keysOf(policy), key)
      return found ? stateOf(policy, found, stopwatch(), found.taken < policy.quota) : whole(policy)
    },
  }
}

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
      return found.quota === 0 ? whole(found) : ask(found, key)
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
