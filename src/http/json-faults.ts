/** Locates violations of strict JSON in valid JSON. Slow, and only called if there is one. */
import type { FieldError } from '../errors.ts'
import { faultOfNumber } from '../json/decimals.ts'
import { pointerOf } from '../json/pointer.ts'
import { COMMA, OPENS_OBJECT, QUOTE, Tokens } from '../json/tokens.ts'

const MOST_FAULTS = 20

/** Characters of all pointers except the first. */
const MOST_CHARS = 4_096

/** An open object or array, and the key or index of the current position. */
interface Level {
  /** The keys so far. */
  readonly keys: Set<string> | undefined
  at: string | number
  awaitsKey: boolean
}

const pathOf = (levels: readonly Level[]): string => pointerOf(levels.map(({ at }) => at))

function faultOfText(text: string): string | undefined {
  if (!text.isWellFormed()) return 'holds half of a surrogate pair: send whole Unicode characters'
  return text.includes('\0') ? 'holds NUL (U+0000): remove it' : undefined
}

/** An invalid key cannot be named in a pointer: its object is. */
function* faultsOfKey(
  key: string,
  levels: readonly Level[],
  keys: Set<string>,
): Iterable<FieldError> {
  const fault = faultOfText(key)
  if (fault) yield { pointer: pathOf(levels.slice(0, -1)), message: `has a key that ${fault}` }
  else if (key === '__proto__') {
    yield { pointer: pathOf(levels), message: 'is named __proto__: rename it' }
  } else if (keys.has(key)) {
    yield { pointer: pathOf(levels), message: 'is the same key twice: send each key once' }
  }
  keys.add(key)
}

function* faultsOfString(text: string, levels: readonly Level[]): Iterable<FieldError> {
  const level = levels.at(-1)
  if (level?.keys && level.awaitsKey) {
    level.at = text
    level.awaitsKey = false
    yield* faultsOfKey(text, levels, level.keys)
  } else {
    const message = faultOfText(text)
    if (message) yield { pointer: pathOf(levels), message }
  }
}

function goOn(level: Level | undefined): void {
  if (typeof level?.at === 'number') level.at++
  else if (level) level.awaitsKey = true
}

function* walk(source: string, maxDepth: number): Generator<FieldError> {
  const levels: Level[] = []
  const tokens = new Tokens(source)
  while (tokens.next()) {
    if (tokens.code === QUOTE) yield* faultsOfString(JSON.parse(tokens.text), levels)
    else if (tokens.opens) {
      if (levels.length === maxDepth) {
        return yield { pointer: pathOf(levels), message: `is deeper than ${maxDepth} levels` }
      }
      const isObject = tokens.code === OPENS_OBJECT
      const keys = isObject ? new Set<string>() : undefined
      levels.push({ keys, at: isObject ? '' : 0, awaitsKey: isObject })
    } else if (tokens.closes) levels.pop()
    else if (tokens.code === COMMA) goOn(levels.at(-1))
    else if (tokens.isNumber) {
      const message = faultOfNumber(tokens.text)
      if (message) yield { pointer: pathOf(levels), message }
    }
  }
}

/** The first pointers only: deep paths with long names would repeat themselves. */
export function firstFaults(all: Iterable<FieldError>, most: number): FieldError[] {
  const faults: FieldError[] = []
  let chars = 0
  for (const fault of all) {
    chars += fault.pointer.length
    if (faults.length > 0 && (faults.length === most || chars > MOST_CHARS)) break
    faults.push(fault)
  }
  return faults
}

/** Each with its pointer. */
export const faultsIn = (source: string, maxDepth: number): FieldError[] =>
  firstFaults(walk(source, maxDepth), MOST_FAULTS)
