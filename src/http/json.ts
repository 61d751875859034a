/**
 * Strict JSON: refuses what `JSON.parse` accepts and a store must not. That is invalid UTF-8,
 * duplicate and `__proto__` keys, lone surrogates, NUL, and nesting deeper than 32 levels. Numbers
 * that JavaScript would change are passed on as text; numbers with too many digits are refused.
 */
import { problem } from '../errors.ts'
import { parseAsWritten } from '../json/as-written.ts'
import { faultOfNumber, mayChange, WrittenNumber, whereChanged } from '../json/decimals.ts'
import { COLON, COMMA, OPENS_LIST, OPENS_OBJECT, QUOTE, Tokens } from '../json/tokens.ts'
import { faultsIn } from './json-faults.ts'

/** Levels of objects and arrays. */
export const MAX_DEPTH = 32

/** Keys of all objects together. Metadata of 4 KiB has room for 700. */
export const MAX_MEMBERS = 4_096

/** Values of all kinds, counted by separators. Metadata of 4 KiB has room for 2,048. */
export const MAX_VALUES = 32_768

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** An error of the body as a whole. */
function malformed(detail: string) {
  const errors = [{ pointer: '', message: `${detail.charAt(0).toLowerCase()}${detail.slice(1)}` }]
  return problem('malformed_json', { detail, errors })
}

/** Whether the bytes are UTF-8, except that the last character may be incomplete. */
export function beginsText(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
    return true
  } catch {
    return false
  }
}

/** Throws `malformed_json` if the bytes are not UTF-8. */
export function decodeJson(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    if (beginsText(bytes)) throw malformed(CUT_SHORT)
    throw malformed('The body is not valid UTF-8. Encode it as UTF-8 and send it again.')
  }
}

const CUT_SHORT = 'The body ends before its JSON does. Send the whole JSON value.'

/** The end of V8's message, which may quote the body before it. */
const POSITION = / at position (\d+)(?: \(line \d+ column \d+\))?$/

/** The character at which it stops being JSON, from 0; undefined if V8 does not report it. */
function positionIn(error: unknown, source: string): number | undefined {
  const message = String(error)
  if (message.endsWith('Unexpected end of JSON input')) return source.length
  const [, at] = POSITION.exec(message) ?? []
  return at === undefined ? undefined : Number(at)
}

/** The same for text that may be valid JSON. */
export function endOfJson(source: string): number | undefined {
  try {
    JSON.parse(source)
    return undefined
  } catch (error) {
    return positionIn(error, source)
  }
}

/** V8's syntax error without quotations from the body. */
function faultOf(error: unknown, source: string): string {
  const at = positionIn(error, source)
  if (at === undefined) return 'The body is not JSON. Correct it and send it again.'
  if (at >= source.length) return CUT_SHORT
  return `The body stops being JSON at character ${at}. Correct it and send it again.`
}

function parse(source: string): unknown {
  try {
    return JSON.parse(source)
  } catch (error) {
    throw malformed(faultOf(error, source))
  }
}

interface Written {
  /** Counts members of all objects: colons outside strings. */
  members: number
  values: number
  escapedKey: boolean
  /** A number that JavaScript might change. */
  longNumber: boolean
  refusedNumber: boolean
}

/** Checks limits, so that parsing cannot block others. Throws `malformed_json`. */
function requireFew({ members, values }: Written): void {
  if (members > MAX_MEMBERS) throw malformed(`The body has more than ${MAX_MEMBERS} keys.`)
  if (values > MAX_VALUES) throw malformed(`The body has more than ${MAX_VALUES} values.`)
}

/** One pass over text that may not be JSON; stops at the first exceeded limit. */
function scan(source: string, escapes: boolean): Written {
  const written: Written = {
    members: 0,
    values: 1,
    escapedKey: false,
    longNumber: false,
    refusedNumber: false,
  }
  const tokens = new Tokens(source)
  let hasEscape = false
  while (tokens.next()) {
    switch (tokens.code) {
      case QUOTE:
        hasEscape = escapes && tokens.text.includes('\\')
        break
      case COLON:
        written.members++
        written.escapedKey ||= hasEscape
        requireFew(written)
        break
      case COMMA:
      case OPENS_LIST:
      case OPENS_OBJECT:
        written.values++
        requireFew(written)
        break
      default:
        if (tokens.isNumber && mayChange(tokens.text)) {
          written.longNumber = true
          written.refusedNumber ||= faultOfNumber(tokens.text) !== undefined
        }
    }
  }
  return written
}

const isText = (text: string): boolean => text.isWellFormed() && !text.includes('\0')

/** Counts members while parsing: a duplicate key is counted once by the parser. */
interface Count {
  members: number
}

/** Surrogates and NUL can only come from escapes, because the bytes were valid UTF-8. */
function isSound(value: unknown, depth: number, escapes: boolean, count: Count): boolean {
  if (typeof value === 'string') return !escapes || isText(value)
  if (typeof value !== 'object' || value === null || value instanceof WrittenNumber) return true
  if (depth === MAX_DEPTH) return false
  return Array.isArray(value)
    ? value.every((item) => isSound(item, depth + 1, escapes, count))
    : Object.entries(value).every(([key, member]) => {
        count.members++
        const named = key !== '__proto__' && (!escapes || isText(key))
        return named && isSound(member, depth + 1, escapes, count)
      })
}

/** Characters of a pointer in a message. */
const MOST_SHOWN = 200

function unsound(source: string) {
  const errors = faultsIn(source, MAX_DEPTH)
  const [first] = errors
  const place = first && first.pointer.length <= MOST_SHOWN ? `at "${first.pointer}"` : 'in errors'
  const detail = first && `What is ${place} ${first.message}.`
  return problem('malformed_json', { ...(detail && { detail }), errors })
}

/** Throws `malformed_json` with a pointer for each error. */
export function parseStrictJson(source: string): unknown {
  const { members, escapedKey, longNumber, refusedNumber } = scan(source, source.includes('\\'))
  const parsed = parse(source)
  if (refusedNumber) throw unsound(source)
  const asWritten = escapedKey || longNumber
  const value = asWritten ? parseAsWritten(source, MAX_DEPTH, whereChanged) : parsed
  const count: Count = { members: 0 }
  const sound = isSound(value, 0, source.includes('\\u'), count)
  if (!sound || count.members !== members) throw unsound(source)
  return value
}
