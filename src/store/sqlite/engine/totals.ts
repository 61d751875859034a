/** How many agents and memories there are: counted once, then kept in step with what is committed. */
import type { DatabaseSync } from 'node:sqlite'
import type { Totals } from '../../port/store.ts'
import { prepare, type StorageFault } from './connection.ts'

/** A verb calls these last, so that one which throws has counted nothing. */
export interface Tally {
  born(): void
  /** An agent, and the memories that it had. */
  erased(memories: number): void
  /** Memories that there are more; fewer below 0. */
  created(count: number): void
}

export function prepareTotals(db: DatabaseSync) {
  const count = prepare<Totals>(
    db,
    'SELECT count(*) AS agents, coalesce(sum(memories), 0) AS memories FROM homes',
  )
  let known: Totals | undefined
  /** By the transaction under way. */
  let agents = 0
  let memories = 0

  const tally: Tally = {
    born() {
      agents++
    },
    erased(count) {
      agents--
      memories -= count
    },
    created(count) {
      memories += count
    },
  }

  return {
    tally,
    committed(): void {
      if (known && (agents !== 0 || memories !== 0)) {
        known = { agents: known.agents + agents, memories: known.memories + memories }
      }
      agents = 0
      memories = 0
    },
    /** What became of a commit whose sync failed is not known before it is looked for. */
    undone(fault: StorageFault | undefined): void {
      if (fault === 'unknown') known = undefined
      agents = 0
      memories = 0
    },
    /** Undefined: the storage does not answer now. Looks at every agent only where it must. */
    now(): Totals | undefined {
      try {
        known ??= count.get()
      } catch {
        return undefined
      }
      return known
    },
  }
}
