/** Where the words that are sought stand in a text. */
import { isLetter } from './query.ts'

export interface Occurrences {
  /** Of which `whole` are words of their own. */
  readonly count: number
  readonly whole: number
  /** Where the first is: of the whole ones, if there are any. */
  readonly first: number
}

/** Beyond this more of the same says nothing new; a text of one letter has as many as it is long. */
const MOST_OCCURRENCES = 256

/** Of what is folded: a digit, or a letter in lower case. */
const isAsciiLetter = (unit: number): boolean =>
  (unit >= 0x61 && unit <= 0x7a) || (unit >= 0x30 && unit <= 0x39)

/** Whether the character that holds the unit at `at` belongs to a word. */
function isLetterAt(folded: string, at: number): boolean {
  const unit = folded.charCodeAt(at)
  if (Number.isNaN(unit)) return false
  if (unit < 0x80) return isAsciiLetter(unit)
  const isLow = unit >= 0xdc00 && unit <= 0xdfff
  return isLetter(String.fromCodePoint(folded.codePointAt(isLow ? at - 1 : at) ?? unit))
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
