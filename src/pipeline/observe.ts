/** What is told of every request: its id, its measures, and a line from an allow-list of fields. */
import type { Logger } from 'pino'
import { Problem } from '../errors.ts'
import type { Call } from '../http/call.ts'
import type { Hooks } from './routes.ts'

/** The only notes of a call that are written. Never headers, bodies, addresses or whole tokens. */
const ALLOWED = ['code', 'agent', 'token', 'as'] as const

const picked = ({ notes }: Call) => {
  const line: Record<string, string> = {}
  for (const name of ALLOWED) if (notes[name] !== undefined) line[name] = notes[name]
  return line
}

/** Refusals are worth a line; successes only when LOG_LEVEL is debug. */
function logRequest(log: Logger, call: Call, route: string, status: number, durationMs: number) {
  const level = status >= 500 ? 'error' : status >= 400 ? 'info' : 'debug'
  if (!log.isLevelEnabled(level)) return
  const ms = Math.round(durationMs * 100) / 100
  const { id, method } = call
  log[level]({ id, method, route, status, ms, ...picked(call) }, 'request')
}

/** The cause of a 5xx, which its caller is not told. */
function logFailure(log: Logger, { id }: Call, error: unknown): void {
  const cause = error instanceof Problem ? error.cause : error
  if (cause !== undefined) log.error({ id, err: cause }, 'failed')
}

type Measure = (route: string, method: string, status: number, durationMs: number) => void

export const observing = (log: Logger, measure: Measure): Pick<Hooks, 'observe' | 'failed'> => ({
  observe(call, route, status, durationMs) {
    measure(route, call.method, status, durationMs)
    logRequest(log, call, route, status, durationMs)
  },
  failed: (call, error) => logFailure(log, call, error),
})

/** Milliseconds, monotonic. */
export const stopwatch = (): number => performance.now()

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

/** Unique without asking for randomness each time. */
export function requestIds(random: (bytes: number) => Uint8Array): () => string {
  const prefix = Buffer.from(random(6)).toString('hex')
  let count = 0
  return () => `${prefix}-${(++count).toString(36)}`
}
