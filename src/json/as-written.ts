/**
 * A way around what `JSON.parse` changes. Numbers are rounded to JavaScript's; and by a fault of V8,
 * a key that is spelt with an escape can be read as another key that some object had before, be it
 * another tenant's (https://github.com/nodejs/node/issues/63785). Such keys never reach it as keys:
 * each object is parsed as a list of its keys and values. No name stands in for a key, so that none
 * has to be found that the source does not hold.
 */
import { WrittenNumber } from './decimals.ts'
import { beginsNumber, closingQuote, endOfNumber } from './strings.ts'

/** An object is told from a list by its one key, which has no escape; a number by what is there. */
type Listed =
  | string
  | number
  | boolean
  | null
  | Listed[]
  | { readonly '': readonly Listed[] | string }

const marks: Readonly<Record<string, string>> = { '{': '{"":[', '}': ']}', ':': ',' }

/** How a number is to be kept in writing; undefined where JavaScript's own will do. */
export type Spell = (literal: string) => string | undefined

/** `{"a":1}` becomes `{"":["a",1]}`, and a number that is kept in writing `{"":"1"}`. */
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

/** The value of valid JSON; below `maxDepth` it is of no use. */
export const parseAsWritten = (source: string, maxDepth: number, spell: Spell): unknown =>
  restore(JSON.parse(list(source, spell)), maxDepth)
