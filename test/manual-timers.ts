/** Timers of one test: their time passes when the test says so, and for nobody else. */
import { setImmediate as turn } from 'node:timers/promises'
import type { Timers } from '../src/timers.ts'

interface Timer {
  readonly at: number
  readonly ms: number
  readonly run: () => void
}

export interface ManualTimers {
  readonly timers: Timers
  /** Runs what is due meanwhile, in order. */
  readonly pass: (ms: number) => void
  /** The same, once what was done before had a turn of the event loop, and so has what comes of each. */
  readonly passInTurns: (ms: number) => Promise<void>
  /** How long each was set for that is still to come. */
  readonly waits: () => readonly number[]
}

export function manualTimers(): ManualTimers {
  const waiting = new Set<Timer>()
  let now = 0

  function set(ms: number, run: () => void): () => void {
    const timer = { at: now + ms, ms, run }
    waiting.add(timer)
    return () => void waiting.delete(timer)
  }

  function repeat(ms: number, run: () => void): () => void {
    let cancel = () => {}
    const again = (): void => {
      cancel = set(ms, again)
      run()
    }
    cancel = set(ms, again)
    return () => cancel()
  }

  const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const cancel = set(ms, resolve)
      const stop = () => {
        cancel()
        reject(signal?.reason)
      }
      if (signal?.aborted) stop()
      else signal?.addEventListener('abort', stop, { once: true })
    })

  /** One for each that is due by then; those of one moment come as they were set. */
  function* due(until: number): Generator<void> {
    for (;;) {
      const [first] = [...waiting].filter(({ at }) => at <= until).toSorted((a, b) => a.at - b.at)
      if (!first) break
      now = first.at
      waiting.delete(first)
      first.run()
      yield
    }
    now = until
  }

  return {
    timers: { stopwatch: () => now, after: set, every: repeat, pause },
    pass: (ms) => due(now + ms).forEach(() => {}),
    async passInTurns(ms) {
      await turn()
      for (const _ of due(now + ms)) await turn()
    },
    waits: () => Array.from(waiting, ({ ms }) => ms),
  }
}
