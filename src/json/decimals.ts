/** Numbers of JSON by what they say, where JavaScript's would round them. */

/** A number that JavaScript would change, as it was written: no schema of ours takes it for one. */
export class WrittenNumber {
  readonly literal: string

  constructor(literal: string) {
    this.literal = literal
  }
}

/** A number that is longer is refused: nobody needs it, and what is done with digits costs by them. */
export const MOST_CHARS = 400
export const MOST_EXPONENT_DIGITS = 6

const EXPONENT = /[eE][+-]?(\d+)$/

/** Why a number is not taken, whoever sends it; asked before anything is computed with it. */
export function faultOfNumber(literal: string): string | undefined {
  if (literal.length > MOST_CHARS) {
    return `is a number of more than ${MOST_CHARS} characters: send it as a string`
  }
  const [, digits = ''] = EXPONENT.exec(literal) ?? []
  if (digits.length <= MOST_EXPONENT_DIGITS) return undefined
  return `has an exponent of more than ${MOST_EXPONENT_DIGITS} digits: send it as a string`
}

const PARTS = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

/** What a literal says: the digits from the first to the last that is no zero, times ten to a power. */
interface Decimal {
  readonly sign: string
  readonly digits: string
  /** NaN where it is too large to be computed with. */
  readonly power: number
}

/** Beside it there is room for as many digits as anything holds. */
const LARGEST_EXPONENT = 1e15

function exponentOf(digits: string): number {
  const exponent = Number(digits)
  return Math.abs(exponent) < LARGEST_EXPONENT ? exponent : Number.NaN
}

/** Loops, for a pattern would look at a long run of zeros once for each of them. */
function partsOf(literal: string): Decimal {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = PARTS.exec(literal) ?? []
  const digits = whole + fraction
  let first = 0
  while (digits[first] === '0') first++
  let end = digits.length
  while (end > first && digits[end - 1] === '0') end--
  const shift = digits.length - end - fraction.length
  return { sign, digits: digits.slice(first, end), power: exponentOf(exponent) + shift }
}

/**
 * One spelling for each decimal value: `1.0`, `1` and `10e-1` are the same, as are `0` and `-0`.
 * Homes of version 1.0.0 may hold an exponent of any length: one that is too large is the same as
 * itself alone, for its exact value would cost by the square of its digits.
 */
export function decimalOf(literal: string): string {
  const { sign, digits, power } = partsOf(literal)
  if (digits === '') return '0'
  return Number.isFinite(power) ? `${sign}${digits}e${power}` : literal
}

/** A double keeps every decimal of so many digits, and has itself written with no more than these. */
const ALWAYS_KEPT = 15
const EVER_KEPT = 17

/** Far from the largest and the smallest double, where fewer digits are kept. */
const isOrdinary = ({ digits, power }: Decimal): boolean =>
  power > -290 && power + digits.length < 290

/** Whether JavaScript gives the same number back: most literals are told by counting their digits. */
export function isKept(literal: string): boolean {
  const decimal = partsOf(literal)
  const count = decimal.digits.length
  if (count === 0) return true
  if (count > EVER_KEPT) return false
  if (count <= ALWAYS_KEPT && isOrdinary(decimal)) return true
  const written = String(Number(literal))
  if (written === literal) return true
  const { digits, power } = partsOf(written)
  return digits === decimal.digits && power === decimal.power
}

/** Whether the number is a whole one, however it is spelt. */
export const isWhole = ({ literal }: WrittenNumber): boolean => !decimalOf(literal).includes('e-')

/** Up to 15 digits come back as they were sent; whatever has an exponent is worth a second look. */
export const mayChange = (literal: string): boolean =>
  literal.length > 15 || literal.includes('e') || literal.includes('E')

/** What JavaScript would change, in writing. */
export const whereChanged = (literal: string): string | undefined =>
  mayChange(literal) && !isKept(literal) ? literal : undefined
