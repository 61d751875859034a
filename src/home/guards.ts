/** Guard lists of the home's endpoints. */
import { z } from 'zod'
import {
  bearer,
  noTokenInQuery,
  notPaused,
  operatorOnly,
  singleHeaders,
} from '../pipeline/guards/bearer.ts'
import { announce, spent } from '../pipeline/guards/budget.ts'
import { origin } from '../pipeline/guards/origin.ts'
import { enabled, noStore } from '../pipeline/guards/private.ts'
import { namedRun } from './agent-run.ts'
import type { BudgetName } from './limits.ts'

/** For anyone; the budget is the one that is announced. */
export const entrance = (budget: BudgetName) =>
  [noStore, announce(budget), enabled, origin, singleHeaders, noTokenInQuery] as const

/** For both tokens, also while the agent is paused. */
export const forAgentsEvenPaused = (budget: BudgetName) =>
  [...entrance(budget), bearer, spent, namedRun] as const

/** For both tokens; the agent's only while it is active. */
export const forAgents = (budget: BudgetName) =>
  [...entrance(budget), bearer, notPaused, spent, namedRun] as const

/** For the operator's token. */
export const forOperators = (budget: BudgetName) =>
  [...entrance(budget), bearer, operatorOnly, spent, namedRun] as const

/** For endpoints without query parameters; unknown ones are refused. */
export const noQuery = z.strictObject({})
