/** The numbers of agents and memories: counted once, then updated with each commit. */
import type { DatabaseSync } from 'node:sqlite'
import type { Totals } from '../../port/store.ts'
import { prepare, type StorageFault } from './connection.ts'

/** Verbs call these last, so that one that throws has counted nothing. */
export interface Tally {
  born(): void
  /** An agent was erased, with this many memories. */
  erased(memories: number): void
  /** The change in the number of memories. */
  created(count: number): void
}

export function prepareTotals(db: DatabaseSync) {
  const count = prepare<Totals>(
    db,
    'SELECT count(*) AS agents, coalesce(sum(memories), 0) AS memories FROM homes',
  )
  let known: Totals | undefined
  /** In the current transaction. */
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
    /** After a failed sync the outcome is not known until it is counted again. */
    undone(fault: StorageFault | undefined): void {
      if (fault === 'unknown') known = undefined
      agents = 0
      memories = 0
    },
    /** Undefined before they were counted. */
    known: (): Totals | undefined => known,
    /** Reads the counters of all agents once. Undefined if the storage does not answer. */
    count(): Totals | undefined {
      try {
        known ??= count.get()
      } catch {
        return undefined
      }
      return known
    },
  }
}
