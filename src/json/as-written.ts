/**
 * Parses JSON where `JSON.parse` would change it. It rounds numbers; and by a bug in V8, a key
 * written with an escape can be read as another key that some object had before, possibly another
 * tenant's (https://github.com/nodejs/node/issues/63785). So such keys are never parsed as keys:
 * each object is parsed as an array of keys and values.
 */
import { WrittenNumber } from './decimals.ts'
import { beginsNumber, closingQuote, endOfNumber } from './strings.ts'

/** An object is recognized by its single empty key; a number by its text. */
type Listed =
  | string
  | number
  | boolean
  | null
  | Listed[]
  | { readonly '': readonly Listed[] | string }

const marks: Readonly<Record<string, string>> = { '{': '{"":[', '}': ']}', ':': ',' }

/** The text of a number that must be kept as text; undefined if JavaScript's number is exact. */
export type Spell = (literal: string) => string | undefined

/** `{"a":1}` becomes `{"":["a",1]}`, and a number kept as text `{"":"1"}`. */
function list(source: string, spell: Spell): string {
  let listed = ''
  let from = 0
  const put = (mark: string, at: number, past: number) => {
    listed += source.slice(from, at) + mark
    from = past
  }
  for (let i = 0; i < source.length; i++) {
    const code = source.charCodeAt(i)
    if (code === 34) i = closingQuote(source, i + 1)
    else if (code === 123 || code === 125 || code === 58) {
      put(marks[source.charAt(i)] ?? '', i, i + 1)
    } else if (beginsNumber(code)) {
      const end = endOfNumber(source, i)
      const written = spell(source.slice(i, end))
      if (written !== undefined) put(`{"":"${written}"}`, i, end)
      i = end - 1
    }
  }
  return listed + source.slice(from)
}

function objectOf(members: readonly Listed[], depth: number): object {
  const entries: [PropertyKey, unknown][] = []
  for (let i = 0; i < members.length; i += 2) {
    entries.push([String(members[i]), restore(members[i + 1] ?? null, depth)])
  }
  return Object.fromEntries(entries)
}

function restore(value: Listed, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  const held = Array.isArray(value) ? value : value['']
  if (typeof held === 'string') return new WrittenNumber(held)
  if (depth === 0) return value
  return held === value ? value.map((item) => restore(item, depth - 1)) : objectOf(held, depth - 1)
}

/** Parses valid JSON down to `maxDepth`. */
export const parseAsWritten = (source: string, maxDepth: number, spell: Spell): unknown =>
  restore(JSON.parse(list(source, spell)), maxDepth)
