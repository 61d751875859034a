/** What stands in front of the home's endpoints, in order. */
import { z } from 'zod'
import { bearer } from '../pipeline/guards/bearer.ts'
import { announce, spent } from '../pipeline/guards/budget.ts'
import { enabled } from '../pipeline/guards/enabled.ts'
import { noStore } from '../pipeline/guards/no-store.ts'
import { noTokenInQuery } from '../pipeline/guards/no-token-in-query.ts'
import { notPaused } from '../pipeline/guards/not-paused.ts'
import { operatorOnly } from '../pipeline/guards/operator-only.ts'
import { origin } from '../pipeline/guards/origin.ts'
import { singleHeaders } from '../pipeline/guards/single-headers.ts'
import type { BudgetName } from './limits.ts'

/** For anyone; the budget is the one that the request counts against, if it counts. */
export const entrance = (budget: BudgetName) =>
  [announce(budget), enabled, origin, singleHeaders, noTokenInQuery, noStore] as const

/** For either token, also while the agent is paused. */
export const forAgentsAtRest = (budget: BudgetName) => [...entrance(budget), bearer, spent] as const

/** For either token; the agent's only while it is active. */
export const forAgents = (budget: BudgetName) =>
  [...entrance(budget), bearer, notPaused, spent] as const

/** For the operator's token. */
export const forOperators = (budget: BudgetName) =>
  [...entrance(budget), bearer, operatorOnly, spent] as const

/** The query of an endpoint that knows no parameter: a misspelt one is not ignored. */
export const noQuery = z.strictObject({})
