/**
 * Folds texts to what the index holds: composed, in lower case, and with the plain forms of
 * characters that only look different. A search folds megabytes, so the result for each UTF-16 unit
 * is computed once and looked up afterwards; ASCII texts only need lower case.
 */
const UNKNOWN = 0xffff
/** Folds to no or several units, or depends on others: the text is folded as a whole. */
const ODD = 0xfffe

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff

/** High surrogates of U+1F000 to U+1FBFF: symbols and emoji, which folding does not change. */
const isOfSigns = (unit: number): boolean => unit >= 0xd83c && unit <= 0xd83e

/**
 * Of half and full width, ligatures, units such as ㎏: letters and digits that NFKC makes plain. It
 * would take apart fractions, jamo, and vowels of Thai and Lao; and emoji are symbols.
 */
const PRESENTED =
  /[[\p{CWKCF}&&[\p{L}\p{N}\u3200-\u33ff\uff00-\uffef]]--[¼-¾⅐-⅟↉ำຳ\u3131-\u318e\u{1f000}-\u{1fbff}]]/v
const EACH_PRESENTED = new RegExp(PRESENTED, 'gv')

/** A Greek letter has one form at the end of words; `İ` alone would become two characters. */
const lowered = (text: string): string =>
  text.replaceAll('İ', 'i').toLowerCase().replaceAll('ς', 'σ')

export function thoroughlyFolded(text: string): string {
  const lower = lowered(text.normalize('NFC'))
  if (!PRESENTED.test(lower)) return lower
  return lowered(lower.replace(EACH_PRESENTED, (each) => each.normalize('NFKC')).normalize('NFC'))
}

/** Combining marks, and letters and marks that join the previous one. */
const JOINS = /[\p{M}\u1161-\u1175\u11a8-\u11c2ﾞﾟ\uffc2-\uffdc]/u

export const unitOf = (folded: string): number =>
  folded.length === 1 ? Math.min(ODD, folded.charCodeAt(0)) : ODD

function foldOf(unit: number, isPart: (character: string) => boolean): number {
  if (isHigh(unit)) return isOfSigns(unit) ? unit : ODD
  if (isLow(unit)) return unit
  const character = String.fromCharCode(unit)
  return isPart(character) ? ODD : unitOf(thoroughlyFolded(character))
}

/** May be composed with others. */
const isJoined = (character: string): boolean =>
  character.normalize('NFC') !== character || JOINS.test(character)

interface Folds {
  /** The result for each unit. */
  readonly known: Uint16Array
  readonly ask: (unit: number) => number
}

export const remembered = (ask: (unit: number) => number): Folds => ({
  known: new Uint16Array(65_536).fill(UNKNOWN),
  ask,
})

const ofAny = remembered((unit) => foldOf(unit, isJoined))
/** In composed text, only what becomes plain may be composed again. */
const ofComposed = remembered((unit) => foldOf(unit, (each) => PRESENTED.test(lowered(each))))

/** Computes a unit that was not seen before. */
function isOdd({ known, ask }: Folds, unit: number): boolean {
  if (known[unit] === UNKNOWN) known[unit] = ask(unit)
  return known[unit] === ODD
}

/** Longer than any memory; such texts are folded as a whole. */
const MOST_UNITS = 32_768

const units = new Uint16Array(MOST_UNITS)
const bytes = Buffer.from(units.buffer)

/**
 * Stops at the first unit that is special or unknown, and returns its index. It calls no function,
 * which doubles the speed of the loop that dominates folding.
 */
function foldKnown(from: number, to: number, known: Uint16Array): number {
  for (let at = from; at < to; at++) {
    const fold = known[units[at] ?? 0] ?? UNKNOWN
    if (fold >= ODD) return at
    units[at] = fold
  }
  return to
}

/** Undefined if not every unit can be folded on its own. */
export function foldUnits(text: string, folds: Folds): string | undefined {
  const { length } = text
  if (length > MOST_UNITS) return undefined
  bytes.write(text, 'utf16le')
  for (let at = 0; at < length; at = foldKnown(at, length, folds.known)) {
    if (isOdd(folds, units[at] ?? 0)) return undefined
  }
  return bytes.toString('utf16le', 0, 2 * length)
}

export const isAscii = (text: string): boolean => Buffer.byteLength(text) === text.length

/** Unicode's stream-safe format: normalizing longer runs would take their length squared. */
const MANY_MARKS = /(\p{M}{30})\p{M}+/gu

/** In composed form (NFC), with at most thirty marks on a letter. */
export const composed = (text: string): string => text.replace(MANY_MARKS, '$1').normalize('NFC')

function foldComposed(text: string): string {
  const whole = composed(text)
  return foldUnits(whole, ofComposed) ?? thoroughlyFolded(whole)
}

export function foldedText(text: string): string {
  if (isAscii(text)) return text.toLowerCase()
  return foldUnits(text, ofAny) ?? foldComposed(text)
}

/** Scripts without spaces, and Hangul with its particles; inside of a character class. */
export const WITHOUT_SPACES = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー`

/** Beyond ASCII: characters that always belong to a word, whatever is next to them. */
const IN_WORD = /[\p{L}\p{N}\p{M}]/u
/**
 * Characters of scripts without spaces, or that fold further, depend on their neighbours; symbols
 * are words of their own.
 */
const NEEDS_NEIGHBOURS = new RegExp(
  String.raw`[\p{S}\p{Cs}\p{Co}${WITHOUT_SPACES}\u0600-\u06ffʼ]`,
  'u',
)

const SPACE = 0x20
const APOSTROPHE = 0x27

function wordUnitOf(unit: number): number {
  const folded = foldOf(unit, isJoined)
  if (folded >= ODD || folded < 0x80) return folded
  const character = String.fromCharCode(folded)
  if (character === '’') return APOSTROPHE
  if (NEEDS_NEIGHBOURS.test(character)) return ODD
  return IN_WORD.test(character) ? folded : SPACE
}

const ofWords = remembered(wordUnitOf)

/** Folded, with spaces for non-ASCII signs; undefined if that does not separate all words. */
export const foldedWords = (text: string): string | undefined => foldUnits(text, ofWords)
