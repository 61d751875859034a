/** Scanning JSON: the ends of strings and numbers, and brackets. */

/** Escaped quotes that are skipped by search; a string with more is scanned by character. */
const JUMPS = 32

function isEscaped(source: string, at: number): boolean {
  let slashes = 0
  while (source.charCodeAt(at - 1 - slashes) === 92) slashes++
  return slashes % 2 === 1
}

/** The same, from a position outside an escape. */
function closingQuoteByCharacter(source: string, from: number): number {
  let at = from
  while (at < source.length && source.charCodeAt(at) !== 34) {
    at += source.charCodeAt(at) === 92 ? 2 : 1
  }
  return Math.min(at, source.length)
}

/** The end of the string that starts before `from`; the end of the source if it is not closed. */
export function closingQuote(source: string, from: number): number {
  let end = source.indexOf('"', from)
  for (let jumps = 0; end >= 0 && isEscaped(source, end); jumps++) {
    if (jumps === JUMPS) return closingQuoteByCharacter(source, end + 1)
    end = source.indexOf('"', end + 1)
  }
  return end < 0 ? source.length : end
}

/** Opening and closing brackets differ in one bit: `{` `[` and `}` `]`. */
export const opens = (code: number): boolean => (code | 32) === 123
export const closes = (code: number): boolean => (code | 32) === 125

const isDigit = (code: number): boolean => code >= 48 && code <= 57

/** A decimal point, an exponent, or its sign. */
const isInNumber = (code: number): boolean =>
  isDigit(code) || code === 46 || code === 69 || code === 101 || code === 43 || code === 45

/** Whether a number starts with this character, which may be a minus. */
export const beginsNumber = (code: number): boolean => code === 45 || isDigit(code)

/** The end of the number that starts at `from`. */
export function endOfNumber(source: string, from: number): number {
  let end = from + 1
  while (isInNumber(source.charCodeAt(end))) end++
  return end
}
