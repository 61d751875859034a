/** Waiting, and not for ever. */

export interface Deadline {
  readonly signal: AbortSignal
  /** From now on: aborts when `ms` have passed. */
  readonly start: (ms: number) => void
  /** Nobody waits now. */
  readonly rest: () => void
  /** Lets go of the caller's signal, and of an answer that nobody reads on. May be called again. */
  readonly end: () => void
}

export const timedOut = (ms: number): DOMException =>
  new DOMException(`The home did not answer within ${ms} ms.`, 'TimeoutError')

/** Aborts with the caller's signal, or when a time is over. */
export function deadlineWith(caller: AbortSignal | undefined): Deadline {
  const controller = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const stop = () => controller.abort(caller?.reason)
  if (caller?.aborted) stop()
  caller?.addEventListener('abort', stop, { once: true })
  const rest = () => clearTimeout(timer)
  return {
    signal: controller.signal,
    rest,
    start(ms) {
      rest()
      timer = setTimeout(() => controller.abort(timedOut(ms)), ms)
    },
    end() {
      rest()
      caller?.removeEventListener('abort', stop)
      controller.abort()
    },
  }
}

/** Rejects with the signal's reason when it aborts. */
export function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    if (signal?.aborted) stop()
    signal?.addEventListener('abort', stop, { once: true })
  })
}

/** Milliseconds: longer with every try, and by chance, so that those who met do not meet again. */
export const backoff = (tries: number, { first, most }: { first: number; most: number }): number =>
  Math.random() * Math.min(most, first * 2 ** tries)
