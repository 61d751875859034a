/** What can be said of data at rest: of a file that nobody needs to serve. */

/** A promise that does not hold. */
export interface Violation {
  /** What is not so, in words. */
  readonly fault: string
  /** Where it was found. */
  readonly count: number
  /** The first places: ids, keys and numbers, never a text. */
  readonly places: readonly string[]
}

export interface Verified {
  /** The schema that the file has, and the one that this program knows. */
  readonly schema: { readonly found: number; readonly known: number }
  readonly bytes: number
  /** Promises that were held against the data. */
  readonly checks: number
  /** Rows of each kind; none where the schema is an older program's. */
  readonly counts: Readonly<Record<string, number>>
  /** Empty: all is as it was promised. */
  readonly faults: readonly Violation[]
}

/** Told before each check: `done` of `of`. */
export type Checking = (done: number, of: number) => void

/** One thing that was looked at: as it should be, worth knowing, or wrong. */
export interface Finding {
  readonly about: string
  readonly state: 'good' | 'odd' | 'wrong'
  /** What was found, as one sentence without its full stop. */
  readonly says: string
  /** What to do about it. */
  readonly advice?: string
}

/** What a look at the data needs to know. */
export interface Examined {
  readonly databaseUrl: string
  /** Bytes that should be free. */
  readonly diskReserve: number
  /** Milliseconds since the epoch, by this machine's clock. */
  readonly now: number
}
