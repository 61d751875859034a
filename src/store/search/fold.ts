/**
 * Whole texts, composed and folded quickly: a search folds megabytes. What a unit of UTF-16 becomes
 * is asked once and then looked up; a text of ASCII needs but the lower case.
 */
import { foldedCharacters } from '../words.ts'

const UNKNOWN = 0xffff
/** Becomes none or several, or is half a character: its text is folded as a whole. */
const ODD = 0xfffe

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff

/** The first halves of U+1F000 to U+1FBFF: signs and emoji, which nothing changes. */
const isOfSigns = (unit: number): boolean => unit >= 0xd83c && unit <= 0xd83e

function foldOf(unit: number): number {
  if (isHigh(unit)) return isOfSigns(unit) ? unit : ODD
  if (isLow(unit)) return unit
  const folded = foldedCharacters(String.fromCharCode(unit))
  return folded.length === 1 ? Math.min(ODD, folded.charCodeAt(0)) : ODD
}

/** Marks, and the Hangul letters that join the one before. */
const JOINS = /[\p{M}\u1161-\u1175\u11a8-\u11c2]/u

function isComposed(unit: number): boolean {
  const character = String.fromCharCode(unit)
  return character.normalize('NFC') === character && !JOINS.test(character)
}

interface Folds {
  /** What becomes of each unit. */
  readonly known: Uint16Array
  readonly ask: (unit: number) => number
}

const remembered = (ask: (unit: number) => number): Folds => ({
  known: new Uint16Array(65_536).fill(UNKNOWN),
  ask,
})

const ofComposed = remembered(foldOf)
/** Of any text: what composing might change is odd. */
const ofAny = remembered((unit) => (isComposed(unit) ? foldOf(unit) : ODD))

/** Asks of a unit that was not met before. */
function isOdd({ known, ask }: Folds, unit: number): boolean {
  if (known[unit] === UNKNOWN) known[unit] = ask(unit)
  return known[unit] === ODD
}

/** More than a memory has; what is longer is folded as a whole. */
const MOST_UNITS = 32_768

const units = new Uint16Array(MOST_UNITS)
const bytes = Buffer.from(units.buffer)

/**
 * Up to the first unit that is odd or not known, whose place it answers. It calls nothing: the loop
 * is twice as quick for that, and most of a search's folding.
 */
function foldKnown(from: number, to: number, known: Uint16Array): number {
  for (let at = from; at < to; at++) {
    const fold = known[units[at] ?? 0] ?? UNKNOWN
    if (fold >= ODD) return at
    units[at] = fold
  }
  return to
}

/** Undefined where not every unit can be folded by itself. */
function foldUnits(text: string, folds: Folds): string | undefined {
  const { length } = text
  if (length > MOST_UNITS) return undefined
  bytes.write(text, 'utf16le')
  for (let at = 0; at < length; at = foldKnown(at, length, folds.known)) {
    if (isOdd(folds, units[at] ?? 0)) return undefined
  }
  return bytes.toString('utf16le', 0, 2 * length)
}

function foldComposed(text: string): string {
  const composed = text.normalize('NFC')
  return foldUnits(composed, ofComposed) ?? foldedCharacters(composed)
}

export const isAscii = (text: string): boolean => Buffer.byteLength(text) === text.length

/** In composed form (NFC), and then as `foldedCharacters` folds it. */
export function foldedText(text: string): string {
  if (isAscii(text)) return text.toLowerCase()
  // Common where it is written at all, and the table holds only what becomes one unit.
  const units = text.replaceAll('ß', 'ss')
  return foldUnits(units, ofAny) ?? foldComposed(units)
}

/** Beyond ASCII: what is part of a word by itself, whatever stands beside it. */
const IN_WORD = /[\p{L}\p{N}\p{M}]/u
/** What is written without spaces, or folded further, needs its neighbours; a symbol stands alone. */
const NEEDS_NEIGHBOURS =
  /[\p{S}\p{Cs}\p{Co}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー\u0600-\u06ff’ʼ]/u

const SPACE = 0x20

function wordUnitOf(unit: number): number {
  const folded = isComposed(unit) ? foldOf(unit) : ODD
  if (folded >= ODD || folded < 0x80) return folded
  const character = String.fromCharCode(folded)
  if (NEEDS_NEIGHBOURS.test(character)) return ODD
  return IN_WORD.test(character) ? folded : SPACE
}

const ofWords = remembered(wordUnitOf)

/** Folded, a space for each sign beyond ASCII; undefined where that does not part all words. */
export const foldedWords = (text: string): string | undefined =>
  foldUnits(text.replaceAll('ß', 'ss'), ofWords)
