/** Where mutated code looks up which mutant is active, and counts what it passes through. */

/** How often, by mutant. */
export type Hits = Record<string, number>

export interface Coverage {
  readonly static: Hits
  readonly perTest: Record<string, Hits>
}

interface Namespace {
  activeMutant?: string
  mutantCoverage?: Coverage
}

const scope = globalThis as typeof globalThis & { __stryker__?: Namespace }

export const namespace = (): Namespace => {
  scope.__stryker__ ??= {}
  return scope.__stryker__
}

/** The name under which a thread finds the memory that it shares with the tests. */
export const SHARED = 'mutants'

/** More than any group has; a byte for each. */
export const MAX_MUTANTS = 16_384
