/** Budgets of requests: shown on every answer, and spent by what is let in. */
import { type ErrorCode, problem } from '../../errors.ts'
import { type BudgetPolicy, type Budgets, showPolicy, showState, spend } from '../budgets.ts'
import type { Facts, Guard } from '../guard.ts'
import type { Identified } from './bearer.ts'

export interface WithBudgets {
  readonly budgets: Budgets
}

export interface Announced {
  readonly budget: BudgetPolicy
}

const HEADERS = ['RateLimit', 'RateLimit-Policy'] as const

/** Says which budget the request would be counted against, whoever sent it. */
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

/** Takes one request from the agent's budget. */
export const spent: Guard<WithBudgets, Announced & Identified, void> = {
  name: 'spent',
  errors: ['rate_limited'],
  headers: HEADERS,
  run({ call, budget, identity }, { budgets }) {
    const state = budgets.take(budget.name, identity.agentId)
    return state instanceof Promise ? state.then((known) => spend(call, known)) : spend(call, state)
  },
}

/** What is not allowed costs nothing: an agent cannot use up its operator's budget. */
export async function refuseUnspent(
  { call, budget, identity }: Facts & Announced & Identified,
  { budgets }: WithBudgets,
  code: ErrorCode,
): Promise<never> {
  showState(call, await budgets.look(budget.name, identity.agentId))
  throw problem(code)
}
