/**
 * Budgets that several nodes spend from. A node leases permits by the block, so that most requests
 * ask nobody; every permit was taken from the one count first, so the rates hold in sum.
 */
import type { BudgetPolicy, Budgets, Standing } from './budgets.ts'

/** A share of a budget that a node may spend within its window. */
export interface Lease {
  readonly granted: number
  /** What nobody has leased yet. */
  readonly unleased: number
  readonly endsInMs: number
}

export type LeasePermits = (
  policy: { readonly name: string; readonly quota: number; readonly windowMs: number },
  key: string,
  wanted: number,
) => Promise<Lease>

/**
 * A twentieth: one question for 30 requests at 600 a minute. What one node has left of its block
 * is what another may miss at the end of a window.
 */
const BLOCKS = 20

const blockOf = ({ quota }: BudgetPolicy): number => Math.max(1, Math.floor(quota / BLOCKS))

/** Counts held at once, before those whose window is over are let go. */
const MAX_HELD = 10_000

interface Held {
  left: number
  unleased: number
  endsAt: number
}

const NOTHING: Held = { left: 0, unleased: Number.POSITIVE_INFINITY, endsAt: 0 }

export function sharedBudgets(
  policies: readonly BudgetPolicy[],
  lease: LeasePermits,
  stopwatch: () => number,
): Budgets {
  const byName = new Map(policies.map((policy) => [policy.name, policy]))
  const held = new Map<string, Held>()
  const asked = new Map<string, Promise<Held>>()

  const find = (name: string): BudgetPolicy => {
    const found = byName.get(name)
    if (!found) throw new Error(`no budget is named ${name}`)
    return found
  }

  const current = (id: string): Held | undefined => {
    const found = held.get(id)
    return found && found.endsAt > stopwatch() ? found : undefined
  }

  function keep(id: string, found: Held): Held {
    held.set(id, found)
    if (held.size > MAX_HELD) {
      for (const other of held.keys()) if (!current(other)) held.delete(other)
    }
    return found
  }

  async function askFor(id: string, policy: BudgetPolicy, key: string, wanted: number) {
    // Counted from before the question: the window is over here no later than it is in truth.
    const askedAt = stopwatch()
    const { name, quota, windowSeconds } = policy
    const got = await lease({ name, quota, windowMs: windowSeconds * 1000 }, key, wanted)
    const left = (current(id)?.left ?? 0) + got.granted
    return keep(id, { left, unleased: got.unleased, endsAt: askedAt + got.endsInMs })
  }

  /** Requests that need permits of one budget at once wait for one answer. */
  function askOnce(id: string, policy: BudgetPolicy, key: string, wanted: number): Promise<Held> {
    const under = asked.get(id)
    if (under) return under
    const asking = askFor(id, policy, key, wanted).finally(() => asked.delete(id))
    asked.set(id, asking)
    return asking
  }

  const standingOf = (policy: BudgetPolicy, found: Held, allowed: boolean): Standing => ({
    policy,
    remaining: found.left + found.unleased,
    resetSeconds: Math.max(0, Math.ceil((found.endsAt - stopwatch()) / 1000)),
    allowed,
  })

  const free = (policy: BudgetPolicy): Standing => ({
    policy,
    remaining: 0,
    resetSeconds: policy.windowSeconds,
    allowed: true,
  })

  return {
    async take(name, key) {
      const policy = find(name)
      if (policy.quota === 0) return free(policy)
      const id = `${name} ${key}`
      let found = current(id) ?? NOTHING
      while (found.left === 0 && found.unleased > 0) {
        found = await askOnce(id, policy, key, blockOf(policy))
      }
      const allowed = found.left > 0
      if (allowed) found.left--
      return standingOf(policy, found, allowed)
    },
    async look(name, key) {
      const policy = find(name)
      if (policy.quota === 0) return free(policy)
      const id = `${name} ${key}`
      const found = current(id) ?? (await askOnce(id, policy, key, 0))
      return standingOf(policy, found, found.left + found.unleased > 0)
    },
  }
}
