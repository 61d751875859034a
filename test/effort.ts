/** What `npm run hunt` does more of: random tests make all of their rounds, a quarter elsewhere. */
import { afterAll, inject } from 'vitest'

/** By run, as vitest.config.ts names it. */
const HUNTED = { check: 1 / 8, test: 1 / 4, system: 1 / 4, hunt: 1 } as const

const PROMISED = { check: 1 / 8, test: 1 / 8, system: 1, hunt: 1 } as const

declare module 'vitest' {
  interface ProvidedContext {
    /** The script that this run is. */
    run: keyof typeof HUNTED
  }
}

/** What only a clock can show decides nothing: `npm run hunt` prints it, to be read. */
export async function tell(what: string, measure: () => unknown): Promise<void> {
  if (inject('run') === 'hunt') console.info(`${what}: ${JSON.stringify(await measure())}`)
}

/** `whole`: in `npm run hunt`. */
export const times = (whole: number): number => Math.ceil(whole * HUNTED[inject('run')])

/** `whole`: in `npm run test:system` too, for that many are promised. */
export const timesPromised = (whole: number): number => Math.ceil(whole * PROMISED[inject('run')])

/** The rows of a table that a run measures: all of them in `npm run test:system`. */
export function promised<T>(rows: readonly T[], from = 0): readonly T[] {
  const step = 1 / PROMISED[inject('run')]
  return rows.filter((_, n) => (n + from) % step === 0)
}

/** What takes minutes is tried in little elsewhere. */
export const hunted = <T>(whole: T, little: T): T => (inject('run') === 'hunt' ? whole : little)

/** Of what is told of many, the rows that matter. */
const TOLD = 12

/** The same of many: the largest of what it is given, after a file's tests. */
export function tellLargest(what: string): (name: string | undefined, ms: number) => void {
  const rows: (readonly [ms: number, name: string | undefined])[] = []
  afterAll(() => tell(what, () => rows.toSorted(([a], [b]) => b - a).slice(0, TOLD)))
  return (name, ms) => void rows.push([Math.round(ms * 10) / 10, name])
}
