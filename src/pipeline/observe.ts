/** Request lines for the log, from an allow-list of fields. */
import type { Logger } from 'pino'
import { Problem } from '../errors.ts'
import type { Call } from '../http/call.ts'

/** The only notes of a call that are written. Never headers, bodies, addresses or whole tokens. */
const ALLOWED = ['code', 'agent', 'token', 'as'] as const

const picked = (call: Call) => {
  const line: Record<string, string> = {}
  for (const name of ALLOWED) if (call.notes[name] !== undefined) line[name] = call.notes[name]
  return line
}

/** Refusals are worth a line; successes only when LOG_LEVEL is debug. */
export function logRequest(
  log: Logger,
  call: Call,
  route: string,
  status: number,
  durationMs: number,
): void {
  const level = status >= 500 ? 'error' : status >= 400 ? 'info' : 'debug'
  if (!log.isLevelEnabled(level)) return
  const ms = Math.round(durationMs * 100) / 100
  const { method } = call
  log[level]({ id: call.id, method, route, status, ms, ...picked(call) }, 'request')
}

/** The cause of a 5xx, which its caller is not told. */
export function logFailure(log: Logger, call: Call, error: unknown): void {
  const cause = error instanceof Problem ? error.cause : error
  if (cause !== undefined) log.error({ id: call.id, err: cause }, 'failed')
}
