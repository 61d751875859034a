/** What parts JSON: where its strings and numbers end, and what opens and closes. */

/** Escaped quotes that are jumped from one to the next; a string with more is read on by character. */
const JUMPS = 32

function isEscaped(source: string, at: number): boolean {
  let slashes = 0
  while (source.charCodeAt(at - 1 - slashes) === 92) slashes++
  return slashes % 2 === 1
}

/** The same, from a place outside any escape on. */
function closingQuoteByCharacter(source: string, from: number): number {
  let at = from
  while (at < source.length && source.charCodeAt(at) !== 34) {
    at += source.charCodeAt(at) === 92 ? 2 : 1
  }
  return Math.min(at, source.length)
}

/** Where the string that opens before `from` closes; the end of the source where it never does. */
export function closingQuote(source: string, from: number): number {
  let end = source.indexOf('"', from)
  for (let jumps = 0; end >= 0 && isEscaped(source, end); jumps++) {
    if (jumps === JUMPS) return closingQuoteByCharacter(source, end + 1)
    end = source.indexOf('"', end + 1)
  }
  return end < 0 ? source.length : end
}

/** A brace or bracket that opens, or closes, is told from the other by one bit: `{` `[`, `}` `]`. */
export const opens = (code: number): boolean => (code | 32) === 123
export const closes = (code: number): boolean => (code | 32) === 125

const isDigit = (code: number): boolean => code >= 48 && code <= 57

/** A point, an exponent, or the sign of one. */
const isInNumber = (code: number): boolean =>
  isDigit(code) || code === 46 || code === 69 || code === 101 || code === 43 || code === 45

/** Whether a number begins with this character: a minus is part of it. */
export const beginsNumber = (code: number): boolean => code === 45 || isDigit(code)

/** Where the number that begins at `from` is over. */
export function endOfNumber(source: string, from: number): number {
  let end = from + 1
  while (isInNumber(source.charCodeAt(end))) end++
  return end
}
