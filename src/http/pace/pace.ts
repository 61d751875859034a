/** The minimum throughput of a peer. */

export interface Patience {
  /** Milliseconds in which a piece must pass. */
  readonly stallTimeout: number
  /** Bytes or characters per second, averaged over all waiting. */
  readonly leastPace: number
  /** Milliseconds of waiting before the throughput is measured. */
  readonly paceGrace: number
  /** Milliseconds for the whole stream. */
  readonly answerTimeout: number
}

/** Rejects if the promise is not settled within `ms`. */
export function within<T>(ms: number, wait: () => Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const tooLong = setTimeout(() => reject(new Error('the other end is too slow')), ms)
  return Promise.race([wait(), promise]).finally(() => clearTimeout(tooLong))
}

/** Only time spent waiting for the peer counts. `size`: of the last piece. */
export function watchPace({ stallTimeout, leastPace, paceGrace }: Patience) {
  let waitedMs = 0
  let passed = 0
  return async <T>(size: number, wait: () => Promise<T>): Promise<T> => {
    passed += size
    const leftMs = paceGrace + (passed * 1_000) / leastPace - waitedMs
    const startedAt = performance.now()
    const came = await within(Math.max(0, Math.min(stallTimeout, leftMs)), wait)
    waitedMs += performance.now() - startedAt
    return came
  }
}
