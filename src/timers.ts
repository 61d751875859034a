/** Time that passes. It is handed in, so that a test lets it pass, and whatever else runs does not. */
import { setTimeout as wait } from 'node:timers/promises'

export interface Timers {
  /** Milliseconds, monotonic. */
  readonly stopwatch: () => number
  /** Calls `run` once `ms` have passed, unless what it returns is called before. */
  readonly after: (ms: number, run: () => void) => () => void
  /** Calls `run` each time `ms` have passed, until what it returns is called. */
  readonly every: (ms: number, run: () => void) => () => void
  /** Resolves once `ms` have passed, or rejects when the signal is aborted. */
  readonly pause: (ms: number, signal?: AbortSignal) => Promise<void>
}

/** Of this process: a pause keeps it alive, the others do not. Named where the program begins. */
export const processTimers: Timers = {
  stopwatch: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms).unref()
    return () => clearTimeout(timer)
  },
  every(ms, run) {
    const timer = setInterval(run, ms).unref()
    return () => clearInterval(timer)
  },
  pause: (ms, signal) => wait(ms, undefined, signal && { signal }),
}
