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
  let since = 0
  let until = 0

  function expireIn(ms: number): void {
    since = clock()
    until = since + ms
  }

  return () => {
    const now = clock()
    // If the clock is set back, cached results expire.
    if (known && now >= since && now < until) return known
    since = Number.NEGATIVE_INFINITY
    until = Number.POSITIVE_INFINITY
    known = ask()
    known.then(
      () => expireIn(forMs),
      () => expireIn(Math.min(forMs, FAILURE_MS)),
    )
    return known
  }
}
