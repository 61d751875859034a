/** Whole numbers on the command line. All throw a usage failure for anything else. */
import { usage } from './failure.ts'

/** The value of an option with a default. */
export function wholeNumber(
  name: string,
  given: string | undefined,
  { least, most, otherwise }: { least: number; most: number; otherwise: number },
): number {
  const number = given === undefined ? otherwise : Number(given)
  if (Number.isInteger(number) && number >= least && number <= most) return number
  throw usage(`--${name} must be a whole number from ${least} to ${most}.`)
}

const idGiven =
  (what: string) =>
  (name: string, given: string | undefined): number | undefined => {
    if (given === undefined) return undefined
    if (/^\d{1,15}$/.test(given)) return Number(given)
    throw usage(`${name} must be ${what}: a whole number from 0.`)
  }

/** Undefined if not given. */
export const versionGiven = idGiven('a version')

/** Undefined if not given. */
export const eventGiven = idGiven('the id of an event')
