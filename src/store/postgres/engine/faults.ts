/**
 * Translates the driver's errors to the port's. SQLSTATE codes: appendix A of the PostgreSQL
 * manual.
 */
import pg from 'pg'
import { OutcomeUnknown, StorageFull, StoreUnavailable } from '../../port/errors.ts'

/** Rolled back because of a conflict: the same transaction may succeed at once. */
const MAY_RETRY = new Set(['40001', '40P01'])

/** The server could not do it and rolled back. */
const UNABLE = /^(53|58)|^(25006|57014|55P03)$/

/** A disk of the server is full. */
const DISK_FULL = '53100'

/** The session ended, or the server does not know whether it committed. */
const CUT_OFF = /^(08|57P|40003)/

/** A coordinator lost a server of its cluster. It says so as an internal error, in libpq's words. */
const LOST_SERVER =
  /^(could not (commit transaction|receive data|send data)|server closed|connection not open|no connection to|SSL )/
const INTERNAL = 'XX000'

/** The server refused it, whatever the reason. */
export const isOfServer = (error: unknown): error is pg.DatabaseError =>
  error instanceof pg.DatabaseError

const codeOf = (error: unknown): string | undefined => (isOfServer(error) ? error.code : undefined)

/** The original error. */
const originOf = (error: unknown): unknown =>
  error instanceof StoreUnavailable ? error.cause : error

export const mayRetry = (error: unknown): boolean => MAY_RETRY.has(codeOf(error) ?? '')

/** A primary that became a standby: look for the new one. */
const isReadOnly = (error: unknown): boolean => codeOf(originOf(error)) === '25006'

/** Socket errors of the operating system and Node. */
const SOCKET_CODES = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'ENOTCONN', 'EPIPE', 'ETIMEDOUT'],
  ...['EHOSTDOWN', 'EHOSTUNREACH', 'ENETDOWN', 'ENETRESET', 'ENETUNREACH', 'EADDRNOTAVAIL'],
  ...['ENOTFOUND', 'EAI_AGAIN', 'ERR_STREAM_DESTROYED', 'ERR_STREAM_WRITE_AFTER_END'],
])

/** TLS errors. */
const TLS_CODE = /^ERR_(SSL|TLS)_/

/**
 * Messages of the driver for connections that ended, stalled or were closed; they have no code.
 * Errors before a connection is ours are reported by `acquire`.
 */
export const DRIVER_MESSAGES: ReadonlySet<string> = new Set([
  'Connection terminated',
  'Connection terminated unexpectedly',
  'Query read timeout',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
])

const isOfSocket = (code: unknown): boolean =>
  typeof code === 'string' && (SOCKET_CODES.has(code) || TLS_CODE.test(code))

/** Server errors always have a code; the driver gives none to what it cannot parse. */
const isUnreadable = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && error.code === undefined

const isOfConnection = (error: unknown): boolean =>
  isUnreadable(error) ||
  (error instanceof Error &&
    (DRIVER_MESSAGES.has(error.message) || ('code' in error && isOfSocket(error.code))))

const isServerLost = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && error.code === INTERNAL && LOST_SERVER.test(error.message)

const isCutOff = (error: unknown): boolean =>
  isOfConnection(error) || CUT_OFF.test(codeOf(error) ?? '') || isServerLost(error)

/** The server goes on: what was cut off is behind it, as a server of a cluster is. */
const isAnswered = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && error.severity === 'ERROR'

/** The connection cannot be used any more. */
export const breaksConnection = (error: unknown): boolean => {
  const origin = originOf(error)
  return (isCutOff(origin) && !isAnswered(origin)) || isReadOnly(error)
}

/** `changes`: the statement may have been committed although its answer was lost. */
export function translate(error: unknown, changes: boolean): unknown {
  if (isCutOff(error)) {
    return changes
      ? new OutcomeUnknown('the connection broke before the commit was confirmed', { cause: error })
      : new StoreUnavailable('the database does not answer', { cause: error })
  }
  if (codeOf(error) === DISK_FULL) return new StorageFull('the server is full', { cause: error })
  return UNABLE.test(codeOf(error) ?? '') || mayRetry(error)
    ? new StoreUnavailable('the database cannot do this now', { cause: error })
    : error
}

/** Unique violation. */
export const isDuplicate = (error: unknown): boolean => codeOf(error) === '23505'
