/** Observation of requests: ids, metrics and logs. */
import type { Logger } from 'pino'
import type { Call } from '../http/call.ts'
import { createRequestLog } from './request-log.ts'
import type { Hooks } from './routes.ts'

type Measure = (route: string, method: string, status: number, durationMs: number) => void

type Observing = Pick<Hooks, 'observe' | 'failed' | 'brokeOff'>

export function observing(log: Logger, measure: Measure): Observing {
  const { ended, failed, brokeOff } = createRequestLog(log)
  return {
    observe(call: Call, route, status, durationMs) {
      measure(route, call.method, status, durationMs)
      ended(call, route, status, durationMs)
    },
    failed,
    brokeOff,
  }
}

/** Milliseconds, monotonic. */
export const stopwatch = (): number => performance.now()

/** The home counts as in use for this long after a request. */
const IN_USE_MS = 1_000

export interface Presence {
  readonly recent: () => boolean
  /** Hooks that observe each request. */
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

const ID_CHARS = 24
/** Random bytes for 256 ids at once. */
const POOL_BYTES = 3_072

/** 96 random bits each. A counter would reveal how busy the service is. */
export function requestIds(random: (bytes: number) => Uint8Array): () => string {
  let digits = ''
  let used = 0
  return () => {
    if (used === digits.length) {
      digits = Buffer.from(random(POOL_BYTES)).toString('hex')
      used = 0
    }
    used += ID_CHARS
    return digits.slice(used - ID_CHARS, used)
  }
}
