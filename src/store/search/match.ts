/** Where the words that are sought stand in a text. */
export interface Occurrences {
  /** Of which `whole` are words of their own. */
  readonly count: number
  readonly whole: number
  /** Where the first is: of the whole ones, if there are any. */
  readonly first: number
}

/** Beyond this more of the same says nothing new; a text of one letter has as many as it is long. */
const MOST_OCCURRENCES = 256

const LETTER = /[\p{L}\p{N}\p{M}]/u

const NO = 1
const YES = 2

/** Whether a unit of UTF-16 is a letter; 0 where it was not asked yet. */
const letters = new Uint8Array(65_536)

function isLetter(unit: number): boolean {
  letters[unit] ||= LETTER.test(String.fromCharCode(unit)) ? YES : NO
  return letters[unit] === YES
}

const isHalf = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdfff
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff

/** Whether the character that holds the unit at `at` belongs to a word. */
function isLetterAt(folded: string, at: number): boolean {
  const unit = folded.charCodeAt(at)
  if (!isHalf(unit)) return !Number.isNaN(unit) && isLetter(unit)
  return LETTER.test(String.fromCodePoint(folded.codePointAt(isLow(unit) ? at - 1 : at) ?? unit))
}

const isWhole = (folded: string, from: number, to: number): boolean =>
  !isLetterAt(folded, from - 1) && !isLetterAt(folded, to)

/** Undefined where it is not. Both are folded. */
export function occurrencesOf(word: string, folded: string): Occurrences | undefined {
  let first = folded.indexOf(word)
  if (first < 0) return undefined
  let count = 0
  let whole = 0
  for (let at = first; at >= 0 && count < MOST_OCCURRENCES; count++) {
    const end = at + word.length
    if (isWhole(folded, at, end) && whole++ === 0) first = at
    at = folded.indexOf(word, end)
  }
  return { count, whole, first }
}
