/**
 * Budgets shared by several nodes. A node leases permits in blocks, so that most requests need no
 * query; all permits come from one counter, so the limits hold in total.
 */
import type { LeasePermits } from '../store/port/store.ts'
import type { BudgetPolicy, BudgetState, Counting } from './budgets.ts'

/**
 * A twentieth: one query per 300 requests at 6,000 a minute. What a node has left of its block may
 * be missing elsewhere at the end of a window.
 */
const BLOCKS = 20

const blockOf = ({ quota }: BudgetPolicy): number => Math.max(1, Math.floor(quota / BLOCKS))

const idOf = ({ name }: BudgetPolicy, key: string): string => `${name} ${key}`

/** Cached counters before expired ones are removed. */
const SWEPT_FROM = 10_000

interface Held {
  left: number
  unleased: number
  endsAt: number
}

const NOTHING: Held = { left: 0, unleased: Number.POSITIVE_INFINITY, endsAt: 0 }

const stateOf = (
  policy: BudgetPolicy,
  { left, unleased, endsAt }: Held,
  now: number,
  allowed: boolean,
): BudgetState => ({
  policy,
  remaining: left + unleased,
  resetSeconds: Math.max(0, Math.ceil((endsAt - now) / 1000)),
  allowed,
})

/** `stopwatch` gives milliseconds, monotonic. */
export function countShared(lease: LeasePermits, stopwatch: () => number): Counting {
  const held = new Map<string, Held>()
  const asked = new Map<string, Promise<Held>>()
  let sweptAt = SWEPT_FROM

  const current = (id: string): Held | undefined => {
    const found = held.get(id)
    return found && found.endsAt > stopwatch() ? found : undefined
  }

  /** Then at twice as many, so that no request scans all of them each time. */
  function sweep(): void {
    for (const id of held.keys()) if (!current(id)) held.delete(id)
    sweptAt = Math.max(SWEPT_FROM, 2 * held.size)
  }

  async function askFor(id: string, policy: BudgetPolicy, key: string, wanted: number) {
    // Measured from before the query, so that the window ends here no later than in the database.
    const askedAt = stopwatch()
    const { name, quota, windowSeconds } = policy
    const asked = { name, quota, windowMs: windowSeconds * 1000 }
    const { granted, unleased, endsInMs } = await lease(asked, key, wanted)
    // No query while a permit is left.
    const found: Held = { left: granted, unleased, endsAt: askedAt + endsInMs }
    held.set(id, found)
    if (held.size > sweptAt) sweep()
    return found
  }

  /** Concurrent requests for permits of one budget share a query. */
  function askOnce(id: string, policy: BudgetPolicy, key: string, wanted: number): Promise<Held> {
    const running = asked.get(id)
    if (running) return running
    const asking = askFor(id, policy, key, wanted).finally(() => asked.delete(id))
    asked.set(id, asking)
    return asking
  }

  return {
    async take(policy, key) {
      const id = idOf(policy, key)
      let found = current(id) ?? NOTHING
      while (found.left === 0 && found.unleased > 0) {
        found = await askOnce(id, policy, key, blockOf(policy))
      }
      const allowed = found.left > 0
      if (allowed) found.left--
      return stateOf(policy, found, stopwatch(), allowed)
    },
    async look(policy, key) {
      const id = idOf(policy, key)
      const found = current(id) ?? (await askOnce(id, policy, key, 0))
      return stateOf(policy, found, stopwatch(), found.left + found.unleased > 0)
    },
  }
}
