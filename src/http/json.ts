/**
 * Strict JSON: what `JSON.parse` lets through and a careful store must not. Refuses bytes that are
 * not UTF-8, duplicate and `__proto__` keys, lone surrogates, NUL, and nesting deeper than 32 levels.
 * Numbers that JavaScript would change are handed on as they were written.
 */
import { problem } from '../errors.ts'
import { parseAsWritten } from '../json/as-written.ts'
import { mayChange, WrittenNumber, whereChanged } from '../json/decimals.ts'
import { beginsNumber, closingQuote, endOfNumber } from '../json/strings.ts'

/** Levels of objects and arrays. */
export const MAX_DEPTH = 32

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const malformed = (detail: string) => problem('malformed_json', { detail })

/** Throws `malformed_json` where the bytes are no text. */
export function decodeJson(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw malformed('The body is not valid UTF-8. Encode it as UTF-8 and send it again.')
  }
}

/** What V8's message tells of a syntax error, in words that quote nothing of the body. */
function faultOf(error: unknown, source: string): string {
  const message = String(error)
  const at = /position (\d+)/.exec(message)?.[1]
  if (message.includes('Unexpected end') || Number(at) >= source.length) {
    return 'The body ends before its JSON does. Send the whole JSON value.'
  }
  return at === undefined
    ? 'The body is not JSON. Correct it and send it again.'
    : `The body stops being JSON at character ${at}. Correct it and send it again.`
}

function parse(source: string): unknown {
  try {
    return JSON.parse(source)
  } catch (error) {
    throw malformed(faultOf(error, source))
  }
}

interface Written {
  /** The members of all objects: the colons outside strings. */
  members: number
  escapedKey: boolean
  /** A number that JavaScript may change. */
  longNumber: boolean
}

function scan(source: string, escapes: boolean): Written {
  const written: Written = { members: 0, escapedKey: false, longNumber: false }
  let start = 0
  let end = 0
  for (let i = 0; i < source.length; i++) {
    const code = source.charCodeAt(i)
    if (code === 34) {
      start = i
      i = closingQuote(source, i + 1)
      end = i + 1
    } else if (code === 58) {
      written.members++
      if (escapes) written.escapedKey ||= source.slice(start, end).includes('\\')
    } else if (beginsNumber(code)) {
      const past = endOfNumber(source, i)
      written.longNumber ||= mayChange(source.slice(i, past))
      i = past - 1
    }
  }
  return written
}

interface Findings {
  members: number
}

function inspectString(text: string): void {
  if (!text.isWellFormed()) {
    throw malformed('A string holds half of a surrogate pair. Send whole Unicode characters.')
  }
  if (text.includes('\0')) throw malformed('A string holds NUL (U+0000). Remove it.')
}

function inspect(value: unknown, depth: number, escapes: boolean, findings: Findings): void {
  if (typeof value === 'string') {
    if (escapes) inspectString(value)
  } else if (typeof value === 'object' && value !== null && !(value instanceof WrittenNumber)) {
    if (depth === MAX_DEPTH) throw malformed(`The body nests deeper than ${MAX_DEPTH} levels.`)
    if (Array.isArray(value)) for (const item of value) inspect(item, depth + 1, escapes, findings)
    else inspectMembers(value, depth, escapes, findings)
  }
}

function inspectMembers(value: object, depth: number, escapes: boolean, findings: Findings): void {
  for (const [key, member] of Object.entries(value)) {
    if (key === '__proto__') throw malformed('A key is named __proto__. Rename it.')
    if (escapes) inspectString(key)
    findings.members++
    inspect(member, depth + 1, escapes, findings)
  }
}

/** Throws `malformed_json`, with a sentence that names the fault. */
export function parseStrictJson(source: string): unknown {
  const parsed = parse(source)
  const { members, escapedKey, longNumber } = scan(source, source.includes('\\'))
  const exact = escapedKey || longNumber
  const value = exact ? parseAsWritten(source, MAX_DEPTH, whereChanged) : parsed
  // Surrogates and control characters can only come from escapes: the bytes were valid UTF-8.
  const findings: Findings = { members: 0 }
  inspect(value, 0, source.includes('\\u'), findings)
  if (findings.members !== members) {
    throw malformed('An object has the same key twice. Send each key once.')
  }
  return value
}
