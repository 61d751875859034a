/** Rate limits: announced on every response, and spent by admitted requests. */
import { type ErrorCode, type Problem, problem } from '../../errors.ts'
import type { Call } from '../../http/call.ts'
import type { Identity } from '../../store/port/identity.ts'
import {
  type BudgetPolicy,
  type BudgetState,
  type Budgets,
  overBudget,
  showPolicy,
  showState,
  spend,
} from '../budgets.ts'
import type { Facts, Guard } from '../guard.ts'
import type { Identified } from './bearer.ts'

export interface WithBudgets {
  readonly budgets: Budgets
}

export interface Announced {
  readonly budget: BudgetPolicy
}

/** The key of the budget: an operator and its agent have separate budgets. */
export const spenderOf = ({ agentId, kind }: Identity): string =>
  kind === 'operator' ? `${agentId} operator` : agentId

const HEADERS = ['RateLimit', 'RateLimit-Policy'] as const

/** Announces the budget that the request counts against. */
export const announce = (name: string): Guard<WithBudgets, object, Announced> => ({
  name: 'announce',
  errors: [],
  headers: HEADERS,
  run({ call }, { budgets }) {
    const budget = budgets.policy(name)
    showPolicy(call, budget)
    return { budget }
  },
})

/** Takes one request from the agent's budget, or from its operator's. */
export const spent: Guard<WithBudgets, Announced & Identified, void> = {
  name: 'spent',
  errors: ['rate_limited'],
  headers: HEADERS,
  run({ call, budget, identity }, { budgets }) {
    const state = budgets.take(budget.name, spenderOf(identity))
    return state instanceof Promise ? state.then((known) => spend(call, known)) : spend(call, state)
  },
}

/** Waiting does not help if the request needs more than the whole budget. */
function tooMany(call: Call, state: BudgetState, more: number): Problem {
  const counts = `This counts as ${more + 1} requests, and only ${state.remaining + 1} were left.`
  return overBudget(call, state, 'rate_limited', {
    detail: `${counts} Nothing was changed, and only one was counted. Send fewer operations at once, or send the same again after the number of seconds in Retry-After.`,
  })
}

/**
 * Takes further permits for a request that counts as several. If not all are left, it takes none;
 * the one for the request itself stays taken.
 */
export async function spendMore(
  { call, budget: { name }, identity }: Facts & Announced & Identified,
  { budgets }: WithBudgets,
  more: number,
): Promise<void> {
  if (more <= 0) return
  const state = await budgets.look(name, spenderOf(identity))
  if (state.policy.quota > 0 && state.remaining < more) throw tooMany(call, state, more)
  for (let taken = 0; taken < more; taken++) {
    spend(call, await budgets.take(name, spenderOf(identity)))
  }
}

/**
 * Takes what a request turned out to cost beyond its one permit. The work is done, so if fewer are
 * left, the budget is emptied and the next request is refused.
 */
export async function spendAfter(
  { call, budget: { name }, identity }: Facts & Announced & Identified,
  { budgets }: WithBudgets,
  more: number,
): Promise<void> {
  for (let taken = 0; taken < more; taken++) {
    const state = await budgets.take(name, spenderOf(identity))
    showState(call, state)
    if (!state.allowed) return
  }
}

/** Refuses without spending, so that an agent cannot use up its operator's budget. */
export async function refuseUnspent(
  { call, budget, identity }: Facts & Announced & Identified,
  { budgets }: WithBudgets,
  code: ErrorCode,
): Promise<never> {
  showState(call, await budgets.look(budget.name, spenderOf(identity)))
  throw problem(code)
}
