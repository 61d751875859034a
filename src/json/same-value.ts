/** Whether two JSON texts have the same value. */
import { isDeepStrictEqual } from 'node:util'
import { parseAsWritten } from './as-written.ts'
import { decimalOf } from './decimals.ts'

const meaningOf = (source: string): unknown =>
  parseAsWritten(source, Number.POSITIVE_INFINITY, decimalOf)

/** Members in any order, numbers by value, strings by characters. */
export const sameValue = (a: string, b: string): boolean =>
  a === b || isDeepStrictEqual(meaningOf(a), meaningOf(b))
