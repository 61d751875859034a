/** Timestamps in responses and in imports. */

const DAY_MS = 86_400_000

const digits = (count: number, most: number): readonly string[] =>
  Array.from({ length: most }, (_, number) => String(number).padStart(count, '0'))

const TWO = digits(2, 60)
const THREE = digits(3, 1_000)

const dateOf = (day: number): string => {
  const moment = new Date(day * DAY_MS).toISOString()
  return moment.slice(0, moment.indexOf('T'))
}

/** Most timestamps of a response are of the same day. */
let latest = { day: 0, date: dateOf(0) }

/**
 * Milliseconds since the epoch as RFC 3339, equal to `toISOString` at a tenth of its cost: a page
 * of a hundred memories has two hundred timestamps.
 */
export function iso(time: number): string {
  const day = Math.floor(time / DAY_MS)
  if (day !== latest.day) latest = { day, date: dateOf(day) }
  const ms = time - day * DAY_MS
  const seconds = Math.floor(ms / 1_000)
  const minutes = Math.floor(seconds / 60)
  const hours = TWO[Math.floor(minutes / 60)]
  return `${latest.date}T${hours}:${TWO[minutes % 60]}:${TWO[seconds % 60]}.${THREE[ms % 1_000]}Z`
}

/** RFC 3339, whose letters may be lower case, and its note: a space for T. */
const INSTANT =
  /^(\d{4}-\d\d-\d\d)[Tt ]([01]\d|2[0-3]):([0-5]\d):([0-5]\d|60)(?:\.(\d+))?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))$/

const MINUTE_MS = 60_000

const THE_MINUTE_BEFORE_MIDNIGHT = 1_439

/**
 * Milliseconds since the epoch, without the rest of a fraction; undefined if it is no time. A leap
 * second, of which there is none elsewhere than at the end of a day, is the last millisecond before.
 */
export function instantOf(text: string): number | undefined {
  const [, date = '', hours, minutes, seconds, rest = '', sign, ...offset] =
    INSTANT.exec(text) ?? []
  const isLeap = seconds === '60'
  const ms = isLeap ? '999' : rest.slice(0, 3).padEnd(3, '0')
  const local = `${date}T${hours}:${minutes}:${isLeap ? '59' : seconds}.${ms}Z`
  const time = Date.parse(local)
  if (Number.isNaN(time) || new Date(time).toISOString() !== local) return undefined
  const east = (Number(offset[0] ?? 0) * 60 + Number(offset[1] ?? 0)) * (sign === '-' ? -1 : 1)
  const at = time - east * MINUTE_MS
  const minuteOfDay = Math.floor((at % DAY_MS) / MINUTE_MS)
  return isLeap && minuteOfDay !== THE_MINUTE_BEFORE_MIDNIGHT ? undefined : at
}
