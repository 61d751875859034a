/** Numbers of JSON by what they say, where JavaScript's would round them. */

/** A number that JavaScript would change, as it was written: no schema of ours takes it for one. */
export class WrittenNumber {
  readonly literal: string

  constructor(literal: string) {
    this.literal = literal
  }
}

const PARTS = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

/** Loops, for a pattern would look at a long run of zeros once for each of them. */
function significant(digits: string): { readonly first: number; readonly end: number } {
  let first = 0
  while (digits[first] === '0') first++
  let end = digits.length
  while (end > first && digits[end - 1] === '0') end--
  return { first, end }
}

/** One spelling for each decimal value: `1.0`, `1` and `10e-1` are the same, as are `0` and `-0`. */
export function decimalOf(literal: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = PARTS.exec(literal) ?? []
  const digits = whole + fraction
  const { first, end } = significant(digits)
  if (first === end) return '0'
  const power = BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - end)
  return `${sign}${digits.slice(first, end)}e${power}`
}

/** An integer that JavaScript, if it keeps it, spells with the same digits. */
const PLAIN = /^-?[1-9]\d{0,20}$/

/** Whether JavaScript, which has read the literal as this value, gives the same number back. */
export function isKept(literal: string, value: number): boolean {
  if (PLAIN.test(literal)) return String(value) === literal
  return Number.isFinite(value) && decimalOf(literal) === decimalOf(String(value))
}

/** Whether the number is a whole one, however it is spelt. */
export const isWhole = ({ literal }: WrittenNumber): boolean => !decimalOf(literal).includes('e-')

/** Up to 15 digits come back as they were sent; whatever has an exponent is worth a second look. */
export const mayChange = (literal: string): boolean =>
  literal.length > 15 || literal.includes('e') || literal.includes('E')

/** What JavaScript would change, in writing. */
export const whereChanged = (literal: string): string | undefined =>
  mayChange(literal) && !isKept(literal, Number(literal)) ? literal : undefined
