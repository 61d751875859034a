/**
 * Birth limits, counted from stored births, so that they survive restarts and apply to all nodes.
 */
import { isLocal, networkOf } from '../http/address.ts'
import type { Call } from '../http/call.ts'
import type { BudgetPolicy, BudgetState } from '../pipeline/budgets.ts'
import { clientOf } from '../pipeline/failures.ts'
import {
  type BirthCount,
  type BirthLimits,
  type Birthplace,
  isLimited,
} from '../store/port/home.ts'
import type { Home } from './home.ts'

interface BirthRates {
  readonly births: BudgetPolicy
  readonly birthsPerNetwork: BudgetPolicy
  readonly birthsInAll: BudgetPolicy
}

/** A developer's own machine has a larger limit. */
export function birthRatesOf(
  call: Call,
  { limits: { rates }, trustedProxies }: Pick<Home, 'limits' | 'trustedProxies'>,
): BirthRates {
  if (!isLocal(call, trustedProxies)) return rates
  const { birthsOnLoopback, birthsInAll } = rates
  return { births: birthsOnLoopback, birthsPerNetwork: birthsOnLoopback, birthsInAll }
}

export const birthLimits = (rates: BirthRates): BirthLimits => ({
  perAddress: rates.births.quota,
  perNetwork: rates.birthsPerNetwork.quota,
  inAll: rates.birthsInAll.quota,
  windowMs: rates.births.windowSeconds * 1000,
})

function stateOf(
  policy: BudgetPolicy,
  count: number,
  oldest: number | undefined,
  now: number,
): BudgetState {
  const windowMs = policy.windowSeconds * 1000
  return {
    policy,
    remaining: Math.max(0, policy.quota - count),
    resetSeconds: Math.ceil(((oldest ?? now) + windowMs - now) / 1000),
    allowed: policy.quota === 0 || count < policy.quota,
  }
}

/** The widest limit that is used up; otherwise the address's own. */
export function birthState(
  { births, birthsPerNetwork, birthsInAll }: BirthRates,
  count: BirthCount,
  now: number,
): BudgetState {
  const inAll = stateOf(birthsInAll, count.inAll, count.oldestInAll, now)
  if (!inAll.allowed) return inAll
  const around = stateOf(birthsPerNetwork, count.fromNetwork, count.oldestFromNetwork, now)
  return around.allowed ? stateOf(births, count.fromAddress, count.oldestFromAddress, now) : around
}

export function birthplaceOf(call: Call, home: Home): Birthplace {
  const bornFrom = clientOf(call, home)
  return { bornFrom, bornWithin: networkOf(bornFrom) }
}

const UNCOUNTED: BirthCount = {
  ...{ fromAddress: 0, fromNetwork: 0, inAll: 0 },
  ...{ oldestFromAddress: undefined, oldestFromNetwork: undefined, oldestInAll: undefined },
}

/** Without limits nothing is counted: that takes as long as there are births in the hour. */
export async function allowanceOf(call: Call, home: Home): Promise<BudgetState> {
  const now = home.clock()
  const rates = birthRatesOf(call, home)
  const limits = birthLimits(rates)
  const count = isLimited(limits)
    ? await home.store.countBirths(birthplaceOf(call, home), now - limits.windowMs)
    : UNCOUNTED
  return birthState(rates, count, now)
}
