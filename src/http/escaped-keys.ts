/**
 * A way around a fault of V8: `JSON.parse` can read a key that is spelt with an escape as another key
 * that some object had before, be it another tenant's (https://github.com/nodejs/node/issues/63785).
 * Such keys never reach it as keys: each object is parsed as a list of its keys and values. No name
 * stands in for a key, so that none has to be found that the source does not hold.
 */
import { closingQuote } from './json-strings.ts'

/** An object is told from a list by its one key, which has no escape. */
type Listed = string | number | boolean | null | Listed[] | { readonly '': readonly Listed[] }

const marks: Readonly<Record<string, string>> = { '{': '{"":[', '}': ']}', ':': ',' }

/** `{"a":1}` becomes `{"":["a",1]}`. */
function listMembers(source: string): string {
  let listed = ''
  let from = 0
  for (let i = 0; i < source.length; i++) {
    const code = source.charCodeAt(i)
    if (code === 34) i = closingQuote(source, i + 1)
    else if (code === 123 || code === 125 || code === 58) {
      listed += source.slice(from, i) + marks[source.charAt(i)]
      from = i + 1
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
  if (typeof value !== 'object' || value === null || depth === 0) return value
  return Array.isArray(value)
    ? value.map((item) => restore(item, depth - 1))
    : objectOf(value[''], depth - 1)
}

/** The value of valid JSON that has escaped keys; below `maxDepth` it is of no use. */
export const parseEscapedKeys = (source: string, maxDepth: number): unknown =>
  restore(JSON.parse(listMembers(source)), maxDepth)
