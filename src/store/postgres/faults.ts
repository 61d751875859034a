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

/** Errors that are not the server's answer come from the connection, which is of no more use. */
export const breaksConnection = (error: unknown): boolean => {
  const code = codeOf(error)
  return code === undefined || CUT_OFF.test(code) || isReadOnly(error)
}

/** `changes`: what was sent may have been committed although its answer never came. */
export function translate(error: unknown, changes: boolean): unknown {
  if (error instanceof StoreUnavailable) return error
  const code = codeOf(error)
  if (code === undefined || CUT_OFF.test(code)) {
    return changes
      ? new OutcomeUnknown('the connection broke before the commit was confirmed', { cause: error })
      : new StoreUnavailable('the database does not answer', { cause: error })
  }
  return UNABLE.test(code) || MAY_RETRY.has(code)
    ? new StoreUnavailable('the database cannot do this now', { cause: error })
    : error
}

/** A row with this key is there already. */
export const isDuplicate = (error: unknown): boolean => codeOf(error) === '23505'
