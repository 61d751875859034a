/** Whether a half of the service was asked for something a moment ago. */
import type { Hooks } from './routes.ts'

/** How long a half counts as in use after a request. */
const IN_USE_MS = 1_000

export interface Presence {
  readonly recent: () => boolean
  /** The hooks, which note each request on their way. */
  readonly noting: (hooks: Hooks) => Hooks
}

/** `stopwatch` gives milliseconds, monotonic. */
export function watchPresence(stopwatch: () => number): Presence {
  let lastAt = Number.NEGATIVE_INFINITY
  return {
    recent: () => stopwatch() - lastAt < IN_USE_MS,
    noting: (hooks) => ({
      ...hooks,
      observe(...request) {
        lastAt = stopwatch()
        hooks.observe(...request)
      },
    }),
  }
}
