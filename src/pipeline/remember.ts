/** Memoization of an asynchronous result for a limited time. */

/** The maximum time for which a failure is cached, in milliseconds. */
const FAILURE_MS = 1_000

/** Concurrent callers share one call. `clock` gives milliseconds. */
export function remembering<T>(
  ask: () => Promise<T>,
  forMs: number,
  clock: () => number,
): () => Promise<T> {
  let known: Promise<T> | undefined
  let underWay = false
  let since = 0
  let lastsMs = forMs

  function settled(ms: number): void {
    underWay = false
    since = clock()
    lastsMs = ms
  }

  /** If the clock is set back, cached results expire. */
  function isFresh(): boolean {
    const age = clock() - since
    return underWay || (age >= 0 && age < lastsMs)
  }

  return () => {
    if (known && isFresh()) return known
    underWay = true
    known = ask()
    known.then(
      () => settled(forMs),
      () => settled(Math.min(forMs, FAILURE_MS)),
    )
    return known
  }
}
