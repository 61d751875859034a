/** Random tests hunt for as long as they are let: whole in `npm test`, shorter before each commit. */
import { inject } from 'vitest'

declare module 'vitest' {
  interface ProvidedContext {
    /** The part of each hunt that this run makes: over 0, at most 1. */
    effort: number
  }
}

/** `whole`: in the whole run. */
export const times = (whole: number): number => Math.ceil(whole * inject('effort'))
