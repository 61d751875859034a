/** Where the strings and numbers of valid JSON end. */

/** Where the string that opens before `from` closes. */
export function closingQuote(source: string, from: number): number {
  let end = source.indexOf('"', from)
  let slashes = 0
  while (source.charCodeAt(end - 1 - slashes) === 92) slashes++
  while (slashes % 2 === 1) {
    end = source.indexOf('"', end + 1)
    slashes = 0
    while (source.charCodeAt(end - 1 - slashes) === 92) slashes++
  }
  return end
}

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
