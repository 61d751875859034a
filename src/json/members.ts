/** Cuts members out of valid JSON as text, so that they are returned exactly as they were sent. */
import { CLOSES_OBJECT, COLON, COMMA, QUOTE, Tokens } from './tokens.ts'

const nameOf = (quoted: string): string =>
  quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1)

/** The position of a value: its first character, and the one after its last. */
export interface Place {
  readonly from: number
  readonly to: number
}

/** The positions of an object's member values by name. `at`: before the opening brace. */
export function placesOf(source: string, at = 0): ReadonlyMap<string, Place> {
  const places = new Map<string, Place>()
  const tokens = new Tokens(source, at)
  let depth = 0
  let name = ''
  let from = 0
  while (tokens.next()) {
    if (tokens.code === QUOTE && from === 0) name = nameOf(tokens.text)
    else if (depth === 1 && tokens.code === COLON) from = tokens.to
    else if (depth === 1 && from > 0 && (tokens.code === COMMA || tokens.code === CLOSES_OBJECT)) {
      places.set(name, { from, to: tokens.from })
      from = 0
      if (tokens.code === CLOSES_OBJECT) break
    } else if (tokens.opens) depth++
    else if (tokens.closes && --depth === 0) break
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
  const tokens = new Tokens(source)
  let kept = ''
  let from = 0
  let to = 0
  while (tokens.next()) {
    if (tokens.from > to) {
      kept += source.slice(from, to)
      from = tokens.from
    }
    to = tokens.to
  }
  return kept + source.slice(from, to)
}

/** Strings as `JSON.stringify` writes them, without unnecessary escapes. */
export function withoutEscapes(source: string): string {
  const tokens = new Tokens(source)
  let spelt = ''
  let from = 0
  while (tokens.next()) {
    if (tokens.code !== QUOTE) continue
    spelt += source.slice(from, tokens.from) + JSON.stringify(JSON.parse(tokens.text))
    from = tokens.to
  }
  return spelt + source.slice(from)
}

/** The texts of an array's elements. */
export function elementsOf(source: string): readonly string[] {
  const elements: string[] = []
  const tokens = new Tokens(source)
  let depth = 0
  let from = 0
  while (tokens.next()) {
    if (tokens.opens && depth++ === 0) from = tokens.to
    else if (depth === 1 && (tokens.code === COMMA || tokens.closes)) {
      const element = source.slice(from, tokens.from)
      // An empty array contains only whitespace.
      if (element.trim() !== '') elements.push(element)
      from = tokens.to
    } else if (tokens.closes) depth--
  }
  return elements
}
