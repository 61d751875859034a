/**
 * Admission control for anonymous requests: only a few start at a time, so that the agent home in
 * the same process stays responsive. A request that would wait too long is refused with 503.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { problem } from '../errors.ts'
import type { Timers } from '../timers.ts'
import { inNextTurn } from '../turns.ts'
import type { Hooks } from './routes.ts'

interface AdmissionRate {
  /** Requests that start in one turn of the event loop. */
  readonly perTurn: number
  readonly inFlight: number
}

interface AdmissionLimits {
  /** While the home is in use, and while it is not. */
  readonly besideHome: AdmissionRate
  readonly alone: AdmissionRate
  readonly waiting: number
  readonly waitMs: number
  /** The median event loop delay above which new requests are refused. */
  readonly delayMs: number
}

export interface Load {
  readonly limits: AdmissionLimits
  /** The median delay of the event loop. */
  readonly delayMs: () => number
}

export const admissionLimits: AdmissionLimits = {
  besideHome: { perTurn: 2, inFlight: 32 },
  alone: { perTurn: 32, inFlight: 64 },
  waiting: 1_000,
  waitMs: 5_000,
  delayMs: 250,
}

const RESOLUTION_MS = 20
const WINDOW_MS = 500

/** The median delay, in milliseconds, of the last half second. */
export function watchEventLoop({ every }: Pick<Timers, 'every'>): () => number {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delays.enable()
  let median = 0
  every(WINDOW_MS, () => {
    median = delays.percentile(50) / 1e6 - RESOLUTION_MS
    delays.reset()
  })
  return () => median
}

/** The home counts as in use for this long after a request. */
const IN_USE_MS = 1_000

/** `stopwatch` gives milliseconds, monotonic. */
export function watchPresence(stopwatch: () => number) {
  let lastAt = Number.NEGATIVE_INFINITY
  return {
    recent: (): boolean => stopwatch() - lastAt < IN_USE_MS,
    /** Hooks that observe each request. */
    observing: (hooks: Hooks): Hooks => ({
      ...hooks,
      observe(...request) {
        lastAt = stopwatch()
        hooks.observe(...request)
      },
    }),
  }
}

export function createAdmissionControl(
  { limits, delayMs }: Load,
  homeInUse: () => boolean,
  { after }: Pick<Timers, 'after'>,
) {
  const waiting = new Set<() => void>()
  let inFlight = 0
  let begunThisTurn = 0
  let turning = false

  function mayBegin(): boolean {
    const rate = homeInUse() ? limits.besideHome : limits.alone
    return inFlight < rate.inFlight && begunThisTurn < rate.perTurn
  }

  function begin(): void {
    inFlight++
    begunThisTurn++
    nextTurn()
  }

  function nextTurn(): void {
    if (turning) return
    turning = true
    inNextTurn(turn)
  }

  function turn(): void {
    turning = false
    begunThisTurn = 0
    for (const admit of waiting) {
      if (!mayBegin()) break
      waiting.delete(admit)
      begin()
      admit()
    }
  }

  function leave(): void {
    inFlight--
    if (waiting.size > 0) nextTurn()
  }

  function wait(): Promise<void> {
    return new Promise((resolve, reject) => {
      const admit = () => {
        cancel()
        resolve()
      }
      const cancel = after(limits.waitMs, () => {
        waiting.delete(admit)
        reject(problem('overloaded'))
      })
      waiting.add(admit)
    })
  }

  return {
    /** Resolves with a function to call when the work is done. Throws `overloaded`. */
    async enter(): Promise<() => void> {
      if (waiting.size === 0 && mayBegin()) begin()
      else if (waiting.size >= limits.waiting || delayMs() > limits.delayMs) {
        throw problem('overloaded')
      } else await wait()
      return leave
    },
  }
}

export type AdmissionControl = ReturnType<typeof createAdmissionControl>
