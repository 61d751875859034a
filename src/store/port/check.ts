/** Checks of data at rest. */
import type { Timers } from '../../timers.ts'

/** An invariant that does not hold. */
export interface Violation {
  /** The violated invariant, as a sentence. */
  readonly fault: string
  /** Where it is violated. */
  readonly count: number
  /** The first places: ids, keys and numbers, never a text. */
  readonly places: readonly string[]
}

export interface Verified {
  /** The schema of the file, and the one that this program has. */
  readonly schema: { readonly found: number; readonly known: number }
  readonly bytes: number
  /** Invariants that were checked. */
  readonly checks: number
  /** Rows by kind; empty for an older schema. */
  readonly counts: Readonly<Record<string, number>>
  /** Memories that no retained event tells of; 0 unless `counts` has rows. */
  readonly unproven: number
  /** Empty if all invariants hold. */
  readonly faults: readonly Violation[]
}

/** Called before each check: `done` of `of`. */
export type Checking = (done: number, of: number) => void

/** One finding: good, worth knowing, or wrong. */
export interface Finding {
  readonly about: string
  readonly state: 'good' | 'odd' | 'wrong'
  /** One sentence without its full stop. */
  readonly says: string
  /** What to do about it. */
  readonly advice?: string
}

/** The parameters of a check. */
export interface Examined {
  readonly databaseUrl: string
  /** Bytes that should be free. */
  readonly diskReserve: number
  /** The current time in milliseconds since the epoch. */
  readonly now: number
  readonly timers: Timers
}
