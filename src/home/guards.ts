/** The guard lists of the home's endpoints, in order. */
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
import type { BudgetName } from './limits.ts'

/** For anyone; the budget is the one that the request counts against, if it counts. */
export const entrance = (budget: BudgetName) =>
  [noStore, announce(budget), enabled, origin, singleHeaders, noTokenInQuery] as const

/** For either token, also while the agent is paused. */
export const forAgentsAtRest = (budget: BudgetName) => [...entrance(budget), bearer, spent] as const

/** For either token; the agent's only while it is active. */
export const forAgents = (budget: BudgetName) =>
  [...entrance(budget), bearer, notPaused, spent] as const

/** For the operator's token. */
export const forOperators = (budget: BudgetName) =>
  [...entrance(budget), bearer, operatorOnly, spent] as const

/** The query of an endpoint without parameters; an unknown one is refused, not ignored. */
export const noQuery = z.strictObject({})
