/**
 * Parses JSON where `JSON.parse` would change it. It rounds numbers; and by a bug in V8, a key
 * written with an escape can be read as another key that some object had before, possibly another
 * tenant's (https://github.com/nodejs/node/issues/63785). So such keys are never parsed as keys:
 * each object is parsed as an array of keys and values.
 */
import { WrittenNumber } from './decimals.ts'
import { CLOSES_OBJECT as CLOSES, COLON, OPENS_OBJECT as OPENS, Tokens } from './tokens.ts'

/** An object is recognized by its single empty key; a number by its text. */
type Listed =
  | string
  | number
  | boolean
  | null
  | Listed[]
  | { readonly '': readonly Listed[] | string }

const marks: Readonly<Record<number, string>> = { [OPENS]: '{"":[', [CLOSES]: ']}', [COLON]: ',' }

/** The text of a number that must be kept as text; undefined if JavaScript's number is exact. */
type Spell = (literal: string) => string | undefined

/** `{"a":1}` becomes `{"":["a",1]}`, and a number kept as text `{"":"1"}`. */
function list(source: string, spell: Spell): string {
  let listed = ''
  let from = 0
  const tokens = new Tokens(source)
  const put = (mark: string) => {
    listed += source.slice(from, tokens.from) + mark
    from = tokens.to
  }
  while (tokens.next()) {
    if (tokens.isNumber) {
      const written = spell(tokens.text)
      if (written !== undefined) put(`{"":"${written}"}`)
    } else {
      const mark = marks[tokens.code]
      if (mark !== undefined) put(mark)
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
