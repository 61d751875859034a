/** Calls `run` once `ms` have passed, unless what it returns is called before. */
export type After = (ms: number, run: () => void) => () => void

/** By the timers of this process. */
export const after: After = (ms, run) => {
  const timer = setTimeout(run, ms)
  return () => clearTimeout(timer)
}
