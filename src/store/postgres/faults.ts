/** What the driver throws, in the port's words. SQLSTATE codes are in the server's appendix A. */
import pg from 'pg'
import { OutcomeUnknown, StoreUnavailable } from '../port.ts'

/** Rolled back for the sake of others: the same transaction may succeed at once. */
const MAY_RETRY = new Set(['40001', '40P01'])

/** The server could not; what was sent is rolled back. */
const UNABLE = /^(53|58)|^(25006|57014|55P03)$/

/** The session ended, or the server itself does not know whether it committed. */
const CUT_OFF = /^(08|57P|40003)/

const codeOf = (error: unknown): string | undefined =>
  error instanceof pg.DatabaseError ? error.code : undefined

export const mayRetry = (error: unknown): boolean => MAY_RETRY.has(codeOf(error) ?? '')

/** A primary that became a standby: it must be looked for again. */
export const isReadOnly = (error: unknown): boolean => codeOf(error) === '25006'

/** The driver reports what befell a connection as bare errors; ours and the server's have a class. */
const isOfConnection = (error: unknown): boolean =>
  error instanceof Error && Object.getPrototypeOf(error) === Error.prototype

const isCutOff = (error: unknown): boolean =>
  isOfConnection(error) || CUT_OFF.test(codeOf(error) ?? '')

/** The connection is of no more use. */
export const breaksConnection = (error: unknown): boolean => isCutOff(error) || isReadOnly(error)

/** `changes`: what was sent may have been committed although its answer never came. */
export function translate(error: unknown, changes: boolean): unknown {
  if (isCutOff(error)) {
    return changes
      ? new OutcomeUnknown('the connection broke before the commit was confirmed', { cause: error })
      : new StoreUnavailable('the database does not answer', { cause: error })
  }
  return UNABLE.test(codeOf(error) ?? '') || mayRetry(error)
    ? new StoreUnavailable('the database cannot do this now', { cause: error })
    : error
}

/** A row with this key is there already. */
export const isDuplicate = (error: unknown): boolean => codeOf(error) === '23505'
