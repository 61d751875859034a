/** Exact decimal numbers, where JavaScript would round. */

/** A number kept as text; no schema accepts it as a number. */
export class WrittenNumber {
  readonly literal: string

  constructor(literal: string) {
    this.literal = literal
  }
}

/** Longer numbers are refused, because computing with digits costs by their number. */
export const MOST_CHARS = 400
export const MOST_EXPONENT_DIGITS = 6

const EXPONENT = /[eE][+-]?(\d+)$/

/** Why a number is refused, checked before anything is computed with it. */
export function faultOfNumber(literal: string): string | undefined {
  if (literal.length > MOST_CHARS) {
    return `is a number of more than ${MOST_CHARS} characters: send it as a string`
  }
  const [, digits = ''] = EXPONENT.exec(literal) ?? []
  if (digits.length <= MOST_EXPONENT_DIGITS) return undefined
  return `has an exponent of more than ${MOST_EXPONENT_DIGITS} digits: send it as a string`
}

const PARTS = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

/** The digits between leading and trailing zeros, and the power of ten. */
interface Decimal {
  readonly sign: string
  readonly digits: string
  /** NaN if it is too large. */
  readonly power: number
}

/** Leaves room for the most digits that anything holds. */
const LARGEST_EXPONENT = 1e15

function exponentOf(digits: string): number {
  const exponent = Number(digits)
  return Math.abs(exponent) < LARGEST_EXPONENT ? exponent : Number.NaN
}

/** Loops, because a regular expression would take quadratic time on long runs of zeros. */
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
 * A canonical form: `1.0`, `1` and `10e-1` are the same, as are `0` and `-0`. Memories from 1.0.0
 * may have exponents of any length; one that is too large equals only itself, because its exact
 * value would take quadratic time.
 */
export function decimalOf(literal: string): string {
  const { sign, digits, power } = partsOf(literal)
  if (digits === '') return '0'
  return Number.isFinite(power) ? `${sign}${digits}e${power}` : literal
}

/** A double keeps any decimal of this many digits, and is written with no more. */
const ALWAYS_KEPT = 15
const EVER_KEPT = 17

/** Exponents far from the limits of doubles, where fewer digits are kept. */
const isOrdinary = ({ digits, power }: Decimal): boolean =>
  power > -290 && power + digits.length < 290

/** Whether JavaScript returns the same number; for most literals, counting digits is enough. */
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

/** Whether the number is an integer, however it is written. */
export const isWhole = ({ literal }: WrittenNumber): boolean => !decimalOf(literal).includes('e-')

/** Up to 15 digits survive; anything with an exponent is checked in full. */
const MAY_CHANGE = /[eE]|^.{16}/

export const mayChange = (literal: string): boolean => MAY_CHANGE.test(literal)

/** A number that JavaScript would change, as text. */
export const whereChanged = (literal: string): string | undefined =>
  mayChange(literal) && !isKept(literal) ? literal : undefined
