/** Cuts members out of valid JSON as text, so that they are returned exactly as they were sent. */
import { closes, closingQuote, opens } from './strings.ts'

const nameOf = (quoted: string): string =>
  quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1)

const QUOTE = 34
const COMMA = 44
const COLON = 58
const CLOSES_OBJECT = 125

/** The position of a value: its first character, and the one after its last. */
export interface Place {
  readonly from: number
  readonly to: number
}

/** The positions of an object's member values by name. `at`: before the opening brace. */
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

/** The texts of an object's member values by name. */
export const membersOf = (source: string): ReadonlyMap<string, string> =>
  new Map(
    Iterator.from(placesOf(source)).map(([name, { from, to }]) => [name, source.slice(from, to)]),
  )

/** The text of an object's only member, whose name contains no colon. */
export const onlyMemberOf = (source: string): string =>
  source.slice(source.indexOf(':') + 1, source.lastIndexOf('}'))

/** Removes whitespace around tokens. */
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

/** Strings as `JSON.stringify` writes them, without unnecessary escapes. */
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

/** The texts of an array's elements. */
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
      // An empty array contains only whitespace.
      if (element.trim() !== '') elements.push(element)
      from = i + 1
    } else if (closes(code)) depth--
  }
  return elements
}
