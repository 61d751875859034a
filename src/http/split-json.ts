/**
 * One JSON object that is too long to be held, told apart while it arrives: each member, and of some
 * that are lists each element, as the text that it was sent as. Whether that text is JSON is for
 * whoever parses it; here is only where it begins and ends.
 */
import { problem } from '../errors.ts'
import { pointerOf } from '../json/pointer.ts'
import { parseStrictJson } from './json.ts'

export interface Part {
  readonly name: string
  /** Of an element. */
  readonly index?: number | undefined
  readonly source: string
}

export interface SplitBounds {
  /** Members whose elements are parts of their own, if they are lists. */
  readonly lists: ReadonlySet<string>
  /** UTF-16 units of a part. */
  readonly maxLength: number
}

const QUOTE = 34
const COMMA = 44
const COLON = 58
const BACKSLASH = 92
const OPENS_LIST = 91
const OPENS_OBJECT = 123

const opens = (code: number): boolean => (code | 32) === OPENS_OBJECT
const closes = (code: number): boolean => (code | 32) === 125

const isBlank = (source: string): boolean => /^[ \t\n\r]*$/.test(source)

/** What is wrong at a place of the body. */
export function malformedAt(path: readonly PropertyKey[], message: string) {
  const pointer = pointerOf(path)
  const detail = `What is ${pointer ? `at "${pointer}"` : 'sent'} ${message}.`
  return problem('malformed_json', { detail, errors: [{ pointer, message }] })
}

/** What is read now. */
type Place = 'before' | 'name' | 'value' | 'element' | 'after' | 'past'

export interface Splitter {
  /** Throws `malformed_json`. */
  readonly push: (piece: string) => readonly Part[]
  /** Throws `malformed_json` where the object has not ended. */
  readonly end: () => void
}

/** How far the object was read. */
interface Reading {
  readonly bounds: SplitBounds
  readonly names: Set<string>
  place: Place
  /** Levels that are open. */
  depth: number
  /** Of the member that is read. */
  name: string
  /** Of the element that is read. */
  index: number
  parts: Part[]
}

/** Of what lies between parts. */
function requireBlank(segment: string): void {
  if (!isBlank(segment)) throw malformedAt([], 'is not JSON')
}

function takeName(reading: Reading, segment: string): void {
  const name = parseStrictJson(segment)
  if (typeof name !== 'string') throw malformedAt([], 'is not JSON')
  if (reading.names.has(name)) throw malformedAt([name], 'is there twice')
  reading.names.add(name)
  reading.name = name
  reading.place = 'value'
}

function takeElement(reading: Reading, source: string, isLast: boolean): void {
  const { name, index, parts } = reading
  if (!isLast || index > 0 || !isBlank(source)) {
    parts.push({ name, index, source })
    reading.index++
  }
  if (isLast) reading.place = 'after'
}

/** A comma or the brace that closes the object. */
function endMember(reading: Reading, source: string, isLast: boolean): void {
  const { place, name, names, parts } = reading
  if (place === 'value') parts.push({ name, source })
  else requireBlank(source)
  if (place === 'name' && (!isLast || names.size > 0)) throw malformedAt([], 'is not JSON')
  reading.place = isLast ? 'past' : 'name'
}

/** What follows answer whether the segment before the mark is over. */
function meetOpening(reading: Reading, segment: string, code: number): boolean {
  const { place, name, bounds } = reading
  reading.depth++
  if (place === 'before') {
    requireBlank(segment)
    if (code !== OPENS_OBJECT) throw malformedAt([], 'must be an object')
    reading.place = 'name'
    return true
  }
  const opensList = place === 'value' && reading.depth === 2 && code === OPENS_LIST
  if (!opensList || !bounds.lists.has(name) || !isBlank(segment)) return false
  reading.place = 'element'
  reading.index = 0
  return true
}

function meetClosing(reading: Reading, segment: string): boolean {
  const { place } = reading
  const depth = --reading.depth
  if (place === 'element' && depth === 1) takeElement(reading, segment, true)
  else if (depth === 0 && place !== 'past') endMember(reading, segment, true)
  else return false
  return true
}

function meetBetween(reading: Reading, segment: string, code: number): boolean {
  const { depth, place } = reading
  if (code === COLON && depth === 1 && place === 'name') takeName(reading, segment)
  else if (code === COMMA && depth === 2 && place === 'element')
    takeElement(reading, segment, false)
  else if (code === COMMA && depth === 1) endMember(reading, segment, false)
  else return false
  return true
}

function meet(reading: Reading, segment: string, code: number): boolean {
  if (opens(code)) return meetOpening(reading, segment, code)
  return closes(code) ? meetClosing(reading, segment) : meetBetween(reading, segment, code)
}

const isMark = (code: number): boolean =>
  opens(code) || closes(code) || code === COMMA || code === COLON

/** Where the marks outside strings are, in one piece after another. */
function watchMarks() {
  let inString = false
  let escaped = false
  return function* marks(piece: string): Generator<number> {
    for (let at = 0; at < piece.length; at++) {
      const code = piece.charCodeAt(at)
      if (!inString) {
        if (code === QUOTE) inString = true
        else if (isMark(code)) yield at
      } else if (escaped) escaped = false
      else if (code === BACKSLASH) escaped = true
      else if (code === QUOTE) inString = false
    }
  }
}

const pathOf = ({ place, name, index }: Reading): readonly PropertyKey[] => {
  if (place === 'element') return [name, index]
  return place === 'value' ? [name] : []
}

export function splitObject(bounds: SplitBounds): Splitter {
  const start = { place: 'before', depth: 0, name: '', index: 0, parts: [] } as const
  const reading: Reading = { ...start, bounds, names: new Set(), parts: [] }
  const marks = watchMarks()
  let segment = ''

  function extend(source: string): void {
    segment += source
    if (segment.length <= bounds.maxLength) return
    throw malformedAt(pathOf(reading), 'is longer than anything exported')
  }

  return {
    push(piece) {
      reading.parts = []
      let from = 0
      for (const at of marks(piece)) {
        extend(piece.slice(from, at))
        const isOver = meet(reading, segment, piece.charCodeAt(at))
        if (isOver) segment = ''
        from = isOver ? at + 1 : at
      }
      extend(piece.slice(from))
      if (reading.place === 'past') requireBlank(segment)
      return reading.parts
    },
    end() {
      if (reading.place !== 'past') throw malformedAt([], 'ends before its JSON does')
    },
  }
}
