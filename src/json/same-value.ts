/** Whether two JSON texts have the same value. */
import { parseAsWritten } from './as-written.ts'
import { decimalOf, WrittenNumber, whereChanged } from './decimals.ts'

/** Keys that `JSON.parse` might misread, and numbers that it might round. */
const NEEDS_CARE = /\\|\d[eE]|[-.\d]{16}/

const spell = (literal: string): string | undefined =>
  whereChanged(literal) === undefined ? undefined : decimalOf(literal)

const meaningOf = (source: string): unknown =>
  NEEDS_CARE.test(source)
    ? parseAsWritten(source, Number.POSITIVE_INFINITY, spell)
    : JSON.parse(source)

type Members = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

function sameMembers(a: Members, b: Members): boolean {
  const names = Object.keys(a)
  if (names.length !== Object.keys(b).length) return false
  return names.every((name) => Object.hasOwn(b, name) && same(a[name], b[name]))
}

/** Both parsed. A number that JavaScript rounds equals none that it does not. */
function same(a: unknown, b: unknown): boolean {
  if (!isObject(a) || !isObject(b)) return a === b
  if (a instanceof WrittenNumber || b instanceof WrittenNumber) {
    return a instanceof WrittenNumber && b instanceof WrittenNumber && a.literal === b.literal
  }
  if (Array.isArray(a) !== Array.isArray(b)) return false
  if (!Array.isArray(a) || !Array.isArray(b)) return sameMembers(a as Members, b as Members)
  return a.length === b.length && a.every((item, at) => same(item, b[at]))
}

/** Members in any order, numbers by value, strings by characters. */
export const sameValue = (a: string, b: string): boolean =>
  a === b || same(meaningOf(a), meaningOf(b))
