/** Births an hour, counted from the agents stored: they survive a restart and hold across nodes. */
import type { BudgetState } from '../pipeline/budgets.ts'
import type { BirthCount, BirthLimits } from '../store/port/home.ts'
import type { Home } from './home.ts'
import type { Rate } from './limits.ts'

export const birthLimits = ({ limits }: Pick<Home, 'limits'>): BirthLimits => ({
  perAddress: limits.rates.births.quota,
  inAll: limits.rates.birthsInAll.quota,
  windowMs: limits.rates.births.windowSeconds * 1000,
})

function stateOf(
  policy: Rate,
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

/** The tighter of the two: the address's own, unless the service's is used up. */
export function birthState(
  { limits }: Pick<Home, 'limits'>,
  count: BirthCount,
  now: number,
): BudgetState {
  const { births, birthsInAll } = limits.rates
  const inAll = stateOf(birthsInAll, count.inAll, count.oldestInAll, now)
  return inAll.allowed ? stateOf(births, count.fromAddress, count.oldestFromAddress, now) : inAll
}

export async function addressState(home: Home, bornFrom: string): Promise<BudgetState> {
  const now = home.clock()
  const since = now - home.limits.rates.births.windowSeconds * 1000
  return birthState(home, await home.store.countBirths(bornFrom, since), now)
}
