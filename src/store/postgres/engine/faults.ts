/** What the driver throws, in the port's words. SQLSTATE codes are in the server's appendix A. */
import pg from 'pg'
import { OutcomeUnknown, StorageFull, StoreUnavailable } from '../../port/errors.ts'

/** Rolled back for the sake of others: the same transaction may succeed at once. */
const MAY_RETRY = new Set(['40001', '40P01'])

/** The server could not; what was sent is rolled back. */
const UNABLE = /^(53|58)|^(25006|57014|55P03)$/

/** No room on one of the server's disks. */
const DISK_FULL = '53100'

/** The session ended, or the server itself does not know whether it committed. */
const CUT_OFF = /^(08|57P|40003)/

const codeOf = (error: unknown): string | undefined =>
  error instanceof pg.DatabaseError ? error.code : undefined

/** What was thrown before it was put in the port's words. */
const originOf = (error: unknown): unknown =>
  error instanceof StoreUnavailable ? error.cause : error

export const mayRetry = (error: unknown): boolean => MAY_RETRY.has(codeOf(error) ?? '')

/** A primary that became a standby: it must be looked for again. */
export const isReadOnly = (error: unknown): boolean => codeOf(originOf(error)) === '25006'

/** What the system and Node say of a socket, to `connect`, `read`, `write` or a name's look-up. */
const SOCKET_CODES = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'ENOTCONN', 'EPIPE', 'ETIMEDOUT'],
  ...['EHOSTDOWN', 'EHOSTUNREACH', 'ENETDOWN', 'ENETRESET', 'ENETUNREACH', 'EADDRNOTAVAIL'],
  ...['ENOTFOUND', 'EAI_AGAIN', 'ERR_STREAM_DESTROYED', 'ERR_STREAM_WRITE_AFTER_END'],
])

/** Of a connection that is encrypted. */
const TLS_CODE = /^ERR_(SSL|TLS)_/

/**
 * What the driver says of a connection that ended, stalled or was let go, as errors that nothing
 * else tells from others. Whatever befalls a connection before it is ours, `acquire` reports.
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

/** The server's errors all have a code; the driver gives none to what it cannot read. */
const isUnreadable = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && error.code === undefined

const isOfConnection = (error: unknown): boolean =>
  isUnreadable(error) ||
  (error instanceof Error &&
    (DRIVER_MESSAGES.has(error.message) || ('code' in error && isOfSocket(error.code))))

const isCutOff = (error: unknown): boolean =>
  isOfConnection(error) || CUT_OFF.test(codeOf(error) ?? '')

/** The connection is of no more use. */
export const breaksConnection = (error: unknown): boolean =>
  isCutOff(originOf(error)) || isReadOnly(error)

/** `changes`: what was sent may have been committed although its answer never came. */
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

/** A row with this key is there already. */
export const isDuplicate = (error: unknown): boolean => codeOf(error) === '23505'
