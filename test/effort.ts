/** Random tests hunt for as long as they are let: whole in `npm run hunt`, a quarter elsewhere. */
import { inject } from 'vitest'

/** By run, as vitest.config.ts names it. */
const HUNTED = { check: 1 / 4, test: 1 / 4, hunt: 1 } as const

const PROMISED = { check: 1 / 4, test: 1, hunt: 1 } as const

declare module 'vitest' {
  interface ProvidedContext {
    /** The script that this run is. */
    run: keyof typeof HUNTED
  }
}

/** `whole`: in `npm run hunt`. */
export const times = (whole: number): number => Math.ceil(whole * HUNTED[inject('run')])

/** `whole`: in `npm test` too, for that many are promised. */
export const timesPromised = (whole: number): number => Math.ceil(whole * PROMISED[inject('run')])
