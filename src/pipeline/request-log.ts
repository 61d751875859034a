/** Request ids, and the request log: a few short fields from an allow-list, with sampling. */
import { type Logger, stdSerializers } from 'pino'
import { Problem } from '../errors.ts'
import type { Call } from '../http/call.ts'
import { StoreUnavailable } from '../store/port/errors.ts'
import type { Timers } from '../timers.ts'

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

interface Sample {
  /** Log lines of one kind per window. */
  readonly lines: number
  readonly windowMs: number
}

interface Kind {
  readonly [name: string]: string | number
}

/**
 * Whether a line of this kind may be written. `sum` is called at the end of the window with the
 * number of suppressed lines. The number of kinds must be small.
 */
function sampling(
  { lines, windowMs }: Sample,
  { after }: Pick<Timers, 'after'>,
  sum: (kind: Kind, unwritten: number) => void,
): (kind: Kind) => boolean {
  const seen = new Map<string, { kind: Kind; count: number }>()

  function turn(): void {
    for (const { kind, count } of seen.values()) if (count > lines) sum(kind, count - lines)
    seen.clear()
  }

  return (kind) => {
    const name = Object.values(kind).join(' ')
    if (seen.size === 0) after(windowMs, turn)
    const found = seen.get(name) ?? { kind, count: 0 }
    seen.set(name, found)
    found.count++
    return found.count <= lines
  }
}

/** The only notes of a call that are logged. Never headers, bodies, addresses or tokens. */
const ALLOWED = ['code', 'reason', 'agent', 'token', 'as'] as const

/** Anonymous clients must not be able to fill the disk with logs. */
const SAMPLE: Sample = { lines: 10, windowMs: 1_000 }

const MOST_REASON_CHARS = 300
const MOST_STACK_CHARS = 4_000

const picked = ({ notes }: Call) => {
  const line: Record<string, string> = {}
  for (const name of ALLOWED) if (notes[name] !== undefined) line[name] = notes[name]
  return line
}

/** A store that does not answer or is full: its message names the cause. */
const isExpected = (error: unknown): boolean =>
  error instanceof StoreUnavailable || (error instanceof Problem && error.status === 503)

/** The messages of an error and its causes, in one line. */
function reasonOf(error: unknown): string {
  const messages: string[] = []
  for (let at = error; at instanceof Error && messages.length < 4; at = at.cause) {
    messages.push(at.message)
  }
  return messages.join(': ').slice(0, MOST_REASON_CHARS)
}

/** An error as it is logged, without the extra properties that drivers attach. */
function serialized(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error).slice(0, MOST_REASON_CHARS) }
  const { type, message, stack } = stdSerializers.err(error)
  return {
    type,
    message: message.slice(0, MOST_REASON_CHARS),
    stack: stack.slice(0, MOST_STACK_CHARS),
  }
}

export function createRequestLog(logger: Logger, timers: Pick<Timers, 'after'>, sample = SAMPLE) {
  const log = logger.child({}, { serializers: { err: serialized } })
  const mayWrite = sampling(sample, timers, (kind: Kind, unwritten) =>
    log.info({ ...kind, unwritten }, 'more of these'),
  )

  function logFailure({ id }: Call, error: unknown): void {
    const { name } = error instanceof Error ? error : { name: typeof error }
    if (mayWrite({ failed: name })) log.error({ id, err: error }, 'failed')
  }

  return {
    /** Errors are logged; successes only with LOG_LEVEL=debug. */
    observe(call: Call, route: string, status: number, durationMs: number): void {
      const level = status >= 500 ? 'error' : status >= 400 ? 'info' : 'debug'
      if (!log.isLevelEnabled(level)) return
      if (status >= 400 && !mayWrite({ route, status, code: call.notes.code ?? '' })) return
      const ms = Math.round(durationMs * 100) / 100
      const { id, method } = call
      log[level]({ id, method, route, status, ms, ...picked(call) }, 'request')
    },
    /** The cause of a 5xx, which the client does not get. */
    failed(call: Call, error: unknown): void {
      const cause = error instanceof Problem ? error.cause : error
      if (cause === undefined) return
      if (isExpected(error)) call.notes.reason = reasonOf(cause)
      else logFailure(call, cause)
    },
    /** A response that ended after its first byte. */
    brokeOff(call: Call, error: unknown): void {
      if (!isExpected(error)) logFailure(call, error)
      else if (mayWrite({ failed: 'broke off' })) {
        log.error({ id: call.id, reason: reasonOf(error) }, 'failed')
      }
    },
  }
}
