/** Valid JSON as text: what must come back digit for digit is cut out of it, never written anew. */
import { closes, closingQuote, opens } from './strings.ts'

const nameOf = (quoted: string): string =>
  quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1)

const QUOTE = 34
const COMMA = 44
const COLON = 58
const CLOSES_OBJECT = 125

/** Where a value stands in its source: the character it begins with, and the one after it. */
export interface Place {
  readonly from: number
  readonly to: number
}

/** Where the values of an object's members stand, by name. `at`: before the brace that opens it. */
export function placesOf(source: string, at = 0): ReadonlyMap<string, Place> {
  const places = new Map<string, Place>()
  let depth = 0
  let name = ''
  let from = 0
  for (let i = at; i < source.length; i++) {
    const code = source.charCodeAt(i)
    if (code === QUOTE) {
      const end = closingQuote(source, i + 1)
      if (from === 0) name = nameOf(source.slice(i, end + 1))
      i = end
    } else if (depth === 1 && code === COLON) from = i + 1
    else if (depth === 1 && from > 0 && (code === COMMA || code === CLOSES_OBJECT)) {
      places.set(name, { from, to: i })
      from = 0
      if (code === CLOSES_OBJECT) break
    } else if (opens(code)) depth++
    else if (closes(code) && --depth === 0) break
  }
  return places
}

/** The values of an object's members as they are written, by name. */
export const membersOf = (source: string): ReadonlyMap<string, string> =>
  new Map(
    Iterator.from(placesOf(source)).map(([name, { from, to }]) => [name, source.slice(from, to)]),
  )

/** The value of an object's only member, whose name has no colon, as it is written. */
export const onlyMemberOf = (source: string): string =>
  source.slice(source.indexOf(':') + 1, source.lastIndexOf('}'))

/** Without the space around its tokens, which says nothing. */
export function compact(source: string): string {
  let kept = ''
  let from = 0
  for (let i = 0; i < source.length; i++) {
    const code = source.charCodeAt(i)
    if (code === 34) i = closingQuote(source, i + 1)
    else if (code <= 32) {
      kept += source.slice(from, i)
      from = i + 1
    }
  }
  return kept + source.slice(from)
}

/** Each string spelt as `JSON.stringify` spells it: escapes that UTF-8 can do without are gone. */
export function withoutEscapes(source: string): string {
  let spelt = ''
  let at = 0
  for (let open = source.indexOf('"'); open >= 0; open = source.indexOf('"', at)) {
    const end = closingQuote(source, open + 1) + 1
    spelt += source.slice(at, open) + JSON.stringify(JSON.parse(source.slice(open, end)))
    at = end
  }
  return spelt + source.slice(at)
}

/** The elements of an array, as they are written. */
export function elementsOf(source: string): readonly string[] {
  const elements: string[] = []
  let depth = 0
  let from = 0
  for (let i = 0; i < source.length; i++) {
    const code = source.charCodeAt(i)
    if (code === QUOTE) i = closingQuote(source, i + 1)
    else if (opens(code) && depth++ === 0) from = i + 1
    else if (depth === 1 && (code === COMMA || closes(code))) {
      const element = source.slice(from, i)
      // An empty array has nothing but space before it closes.
      if (element.trim() !== '') elements.push(element)
      from = i + 1
    } else if (closes(code)) depth--
  }
  return elements
}
