/**
 * Splits a JSON object that is too large for memory into parts while it arrives: its members, and
 * the elements of some members that are arrays, as the text that was sent. The parts are parsed by
 * the caller; only their boundaries are found here.
 */
import { Problem, problem } from '../../errors.ts'
import { endOfJson, parseStrictJson } from '../../http/json.ts'
import { pointerOf } from '../../json/pointer.ts'
import {
  BACKSLASH,
  CLOSES_OBJECT,
  COLON,
  COMMA,
  closes,
  OPENS_LIST,
  OPENS_OBJECT,
  opens,
  QUOTE,
} from '../../json/tokens.ts'

export interface Part {
  readonly name: string
  /** The index of an element. */
  readonly index?: number | undefined
  readonly source: string
  /** The byte offset of the part. */
  readonly from: number
}

interface SplitBounds {
  /** Members whose elements are parts, if they are arrays. */
  readonly lists: ReadonlySet<string>
  /** The maximum length of a part in UTF-16 units. */
  readonly maxLength: number
  /** Called with each member's name before its value is read. Its errors are passed on. */
  readonly meetName: (name: string) => void
}

/** UTF-16 units of a member's name, with the whitespace before it. */
const MAX_NAME = 1_024

const CLOSES_LIST = 93

const BLANK = /^[ \t\n\r]*/

const blanksOf = (source: string): number => BLANK.exec(source)?.[0].length ?? 0

const isBlank = (source: string): boolean => blanksOf(source) === source.length

/** An error at a position of the body, in bytes from 0. */
function malformedAt(path: readonly PropertyKey[], message: string) {
  const pointer = pointerOf(path)
  const detail = `What is ${pointer ? `at "${pointer}"` : 'sent'} ${message}.`
  return problem('malformed_json', { detail, errors: [{ pointer, message }] })
}

/** The state of the reader. */
type Place = 'before' | 'name' | 'value' | 'element' | 'after' | 'past'

/** The position in the object. */
interface Reading {
  readonly bounds: SplitBounds
  readonly names: Set<string>
  place: Place
  /** Open levels. */
  depth: number
  /** The current member. */
  name: string
  /** The current element. */
  index: number
  parts: Part[]
  /** The byte offset of the current segment. */
  from: number
}

const brokenAt = (byte: number) => malformedAt([], `stops being JSON at byte ${byte}`)

/** The text after the segment is not JSON. */
const brokenAfter = ({ from }: Reading, segment: string) =>
  brokenAt(from + Buffer.byteLength(segment))

/** Some programs begin every file with it. */
const BYTE_ORDER_MARK = '\uFEFF'

/** Between parts. */
function requireBlank({ from }: Reading, segment: string): void {
  const isMarked = from === 0 && segment.startsWith(BYTE_ORDER_MARK)
  const blanks = isMarked ? 1 + blanksOf(segment.slice(1)) : blanksOf(segment)
  if (blanks < segment.length) throw brokenAt(from + blanks)
}

/**
 * In a segment that contains a name. `whole`: the position of the error if the name itself is
 * valid.
 */
function brokenInName({ from }: Reading, segment: string, whole: number) {
  const begin = blanksOf(segment)
  const at = segment.charCodeAt(begin) === QUOTE ? (endOfJson(segment) ?? whole) : begin
  return brokenAt(from + Buffer.byteLength(segment.slice(0, at)))
}

function nameIn(reading: Reading, segment: string): string {
  try {
    const name = parseStrictJson(segment)
    if (typeof name === 'string') return name
  } catch (error) {
    if (!(error instanceof Problem)) throw error
  }
  throw brokenInName(reading, segment, blanksOf(segment))
}

function takeName(reading: Reading, segment: string): void {
  const name = nameIn(reading, segment)
  const { names, bounds, from } = reading
  if (names.has(name)) {
    const byte = from + blanksOf(segment)
    throw malformedAt([name], `occurs twice, the second time at byte ${byte}`)
  }
  bounds.meetName(name)
  names.add(name)
  reading.name = name
  reading.place = 'value'
}

function takeElement(reading: Reading, source: string, isLast: boolean): void {
  const { name, index, parts, from } = reading
  if (!isLast || index > 0 || !isBlank(source)) {
    parts.push({ name, index, source, from })
    reading.index++
  }
  if (isLast) reading.place = 'after'
}

/** A comma or the closing brace. */
function endMember(reading: Reading, source: string, isLast: boolean): void {
  const { place, name, names, parts, from } = reading
  if (place === 'value') parts.push({ name, source, from })
  else if (place !== 'name') requireBlank(reading, source)
  else if (!isBlank(source)) throw brokenInName(reading, source, source.length)
  if (place === 'name' && (!isLast || names.size > 0)) throw brokenAfter(reading, source)
  reading.place = isLast ? 'past' : 'name'
}

/** The functions below return whether the segment before the character is complete. */
function meetOpening(reading: Reading, segment: string, code: number): boolean {
  const { place, name, bounds } = reading
  reading.depth++
  if (place === 'before') {
    requireBlank(reading, segment)
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

function meetClosing(reading: Reading, segment: string, code: number): boolean {
  const { place } = reading
  const depth = --reading.depth
  const endsList = place === 'element' && depth === 1
  if (!endsList && (depth > 0 || place === 'past')) return false
  // Other open levels are within a part, and checked by its parser.
  if (code !== (endsList ? CLOSES_LIST : CLOSES_OBJECT)) throw brokenAfter(reading, segment)
  if (endsList) takeElement(reading, segment, true)
  else endMember(reading, segment, true)
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
  return closes(code) ? meetClosing(reading, segment, code) : meetBetween(reading, segment, code)
}

const isMark = (code: number): boolean =>
  opens(code) || closes(code) || code === COMMA || code === COLON

/** The structural characters outside strings, across chunks. */
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

export function splitObject(bounds: SplitBounds) {
  const start = { place: 'before', depth: 0, name: '', index: 0, from: 0 } as const
  const reading: Reading = { ...start, bounds, names: new Set(), parts: [] }
  const marks = watchMarks()
  let segment = ''

  function extend(source: string): void {
    segment += source
    const { place, from } = reading
    const isName = place === 'name'
    if (segment.length <= (isName ? MAX_NAME : bounds.maxLength)) return
    throw malformedAt(
      pathOf(reading),
      isName
        ? `has a property at byte ${from} whose name is longer than any of an export`
        : `begins at byte ${from} and is longer than anything in an export`,
    )
  }

  function endSegment(): void {
    reading.from += Buffer.byteLength(segment) + 1
    segment = ''
  }

  return {
    /** Throws `malformed_json`. */
    push(piece: string): readonly Part[] {
      reading.parts = []
      let from = 0
      for (const at of marks(piece)) {
        extend(piece.slice(from, at))
        const isOver = meet(reading, segment, piece.charCodeAt(at))
        if (isOver) endSegment()
        from = isOver ? at + 1 : at
      }
      extend(piece.slice(from))
      if (reading.place === 'past') requireBlank(reading, segment)
      return reading.parts
    },
    /** Throws `malformed_json` if the object is incomplete. */
    end(): void {
      if (reading.place === 'past') return
      if (reading.place === 'before' && !isBlank(segment))
        throw malformedAt([], 'must be an object')
      const byte = reading.from + Buffer.byteLength(segment)
      throw malformedAt(pathOf(reading), `ends at byte ${byte}, in the middle of its JSON`)
    },
  }
}
