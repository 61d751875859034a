/**
 * Days as people write them (8 May 2023, May 8th, 8.5.2023, 2023-05-08, 2023年5月8日), and the terms
 * that stand for them in the index. Months have their names in the languages of `Intl` that write
 * words apart.
 */
import { isAscii } from './fold.ts'
import { spellingOf } from './spelling.ts'
import { tokensOf } from './tokens.ts'

const LANGUAGES =
  'af ar az be bg bs ca cs cy da de el en es et eu fa fi fr ga gl he hi hr hu hy id is it ka kk ky lt lv mk ms nb nl pl pt ro ru sk sl sq sr sv sw tr uk uz'

/** Only those of English: in other languages they are also words (`set`, `ago`, `out`). */
const SHORT = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/** Without a day or a year these are words, unless they have a capital within a sentence. */
const AS_A_WORD: Readonly<Record<number, RegExp>> = { 3: /\bmarch\b|^March\b/, 5: /\bmay\b|^May\b/ }

/** A term’s part in a date: a number up to 31, a year, a whole date (20230508), or one of these. */
const NOTHING = 0
/** May is `MONTH + 5`. */
const MONTH = 100
/** Makes a month of the number before it; `日` and `年` may follow a day or year. */
const MONTH_SIGN = -1
const SIGN = -2
const SIGNS: Readonly<Record<string, number>> = {
  ...{ 月: MONTH_SIGN, 월: MONTH_SIGN, 年: SIGN, 日: SIGN, 년: SIGN, 일: SIGN },
}

/** `8th`, `1er`, and `08t13` of an ISO time. */
const NUMBER = /^(\d{1,2})(?:st|nd|rd|th|er|t\d\d)?$/
const YEAR = /^[12]\d{3}$/
const WHOLE = /^([12]\d{3}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01]))(?:t\d*z?)?$/

/** Longer terms are no part of a date: `20230508t135600000z` is the longest number. */
const LONGEST = 32
const LONGEST_NUMBER = 19

const isDay = (value: number): boolean => value >= 1 && value <= 31
const isMonth = (value: number): boolean => value >= 1 && value <= 12
const isNamed = (value: number): boolean => value > MONTH && value <= MONTH + 12
const isYear = (value: number): boolean => value >= 1_000 && value < 3_000

const names = new Map([...SHORT.map((name, at) => [name, at + 1] as const), ['sept', 9] as const])
/** As they are called without a day: in many languages another form, and in some a first name. */
const alone = new Set<string>()
/** By the first three bytes of a name, whether some month begins so. */
const beginnings = new Set<number>()
const unlearnt = LANGUAGES.split(' ')

const beginningOf = (name: string): number =>
  [0, 1, 2].reduce((sum, at) => 256 * sum + (name.charCodeAt(at) || 0), 0)

for (const name of names.keys()) beginnings.add(beginningOf(name))

function learn(language: string): void {
  for (const day of ['numeric', undefined] as const) {
    const locale = `${language}-u-ca-gregory-nu-latn`
    const format = new Intl.DateTimeFormat(locale, { month: 'long', day, timeZone: 'UTC' })
    for (let month = 1; month <= 12; month++) {
      const parts = format.formatToParts(Date.UTC(2_000, month - 1))
      const [name = '', other] = tokensOf(parts.find(({ type }) => type === 'month')?.value ?? '')
      if (other !== undefined || /^\d/.test(name)) continue
      const plain = spellingOf(name)
      names.set(plain, month)
      if (isAscii(plain)) beginnings.add(beginningOf(plain))
      if (day === undefined) alone.add(plain)
    }
  }
}

/** Before it is needed, since it takes some time. */
export async function learnMonths(turn: () => Promise<void>): Promise<void> {
  for (let next = unlearnt.shift(); next !== undefined; next = unlearnt.shift()) {
    learn(next)
    await turn()
  }
}

function learnAll(): void {
  for (let next = unlearnt.shift(); next !== undefined; next = unlearnt.shift()) learn(next)
}

const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39

/** By its first three bytes and its length in bytes, whether a term may be part of a date: few may. */
export function mayBeInDay(first: number, second: number, third: number, bytes: number): boolean {
  learnAll()
  if (isDigit(first)) return !isDigit(third) || bytes === 4 || bytes >= 8
  if (first >= 0x80 || second >= 0x80 || third >= 0x80) return true
  return beginnings.has((first * 256 + second) * 256 + third)
}

function numberIn(term: string): number {
  const [, number] = NUMBER.exec(term) ?? []
  if (number !== undefined) return isDay(Number(number)) ? Number(number) : NOTHING
  const [, whole] = WHOLE.exec(term) ?? []
  return whole === undefined && !YEAR.test(term) ? NOTHING : Number(whole ?? term)
}

/** The term’s part in a date. */
export function calendarValue(term: string): number {
  if (term.length > LONGEST) return NOTHING
  const plain = spellingOf(term)
  if (plain < ':') return plain.length > LONGEST_NUMBER ? NOTHING : numberIn(plain)
  learnAll()
  const month = names.get(plain)
  return month === undefined ? (SIGNS[plain] ?? NOTHING) : MONTH + month
}

/** More days of one text are left out. */
const MOST_DAYS = 100

/** At least a month. */
export interface Day {
  readonly year?: number | undefined
  readonly month: number
  readonly day?: number | undefined
  /** Where it is said. */
  readonly at: number
}

/** The days that a sequence of terms names. `calendar`: the part of each term in a date. */
export function daysIn(terms: Int32Array, calendar: Int32Array): readonly Day[] {
  const days: Day[] = []
  const valueAt = (at: number): number => calendar[terms[at] ?? 0] ?? NOTHING
  /** One term of others may stand between: 8 de mayo de 2023. */
  const near = (is: (value: number) => boolean, at: number, step: -1 | 1, least = NOTHING) => {
    if (is(valueAt(at + step))) return at + step
    const between = valueAt(at + step)
    const isOther = between <= NOTHING && between >= least
    return isOther && is(valueAt(at + 2 * step)) ? at + 2 * step : Number.NaN
  }
  const numberAt = (at: number) => (at >= 0 ? valueAt(at) : undefined)
  /** The year of a named month is no part of another day. */
  let told = -1

  function named(month: number, first: number, last: number): void {
    const before = near(isDay, first, -1)
    const after = before >= 0 ? Number.NaN : near(isDay, last, 1)
    const day = numberAt(before) ?? numberAt(after)
    /** Of 3–5 May, and of May 3–5, 2023. */
    const other = valueAt(before >= 0 ? before - 1 : after + 1)
    const isRange = day !== undefined && isDay(other)
    told = near(isYear, after >= 0 ? after + Number(isRange) : last, 1, SIGN)
    const year = numberAt(told) ?? numberAt(near(isYear, first, -1, SIGN))
    days.push({ at: last, year, month, day })
    if (isRange && (before >= 0 || told >= 0)) days.push({ at: last, year, month, day: other })
  }

  /**
   * 2023-05-08, or 8.5.2023; where day and month cannot be told apart, either; or the month alone.
   */
  function numeric(at: number): void {
    const [a = 0, b = 0, year, c = 0, d = 0] = [-2, -1, 0, 1, 2].map((step) => valueAt(at + step))
    if (isMonth(c) && isDay(d)) days.push({ at, year, month: c, day: d })
    else if (isDay(a) && isDay(b)) {
      if (isMonth(b)) days.push({ at, year, month: b, day: a })
      if (isMonth(a) && a !== b) days.push({ at, year, month: a, day: b })
    } else if (isMonth(c)) days.push({ at, year, month: c })
    else if (isMonth(b)) days.push({ at, year, month: b })
  }

  for (let at = 0; at < terms.length && days.length < MOST_DAYS; at++) {
    const value = calendar[terms[at] ?? 0] ?? NOTHING
    if (value === NOTHING || isDay(value) || at === told) continue
    if (isNamed(value)) named(value - MONTH, at, at)
    else if (value === MONTH_SIGN && isMonth(valueAt(at - 1))) named(valueAt(at - 1), at - 1, at)
    else if (isYear(value)) numeric(at)
    else if (value > MONTH + 12) {
      const [year, month = 0, day] = [value / 10_000, (value / 100) % 100, value % 100].map(
        Math.floor,
      )
      days.push({ at, year, month, day })
    }
  }
  return days
}

/** U+2010, which no term of a text contains. */
const HYPHEN = '‐'

const digits = (value: number, count = 2): string => `${value}`.padStart(count, '0')

/** The day, the day of any year, the month, and the month of any year. */
function formsOf({ year, month, day }: Omit<Day, 'at'>) {
  const inYear = HYPHEN + digits(month)
  const date = day === undefined ? undefined : `${inYear}${HYPHEN}${digits(day)}`
  const ofYear = (form: string | undefined) =>
    year === undefined || form === undefined ? undefined : digits(year, 4) + form
  const ofAny = (form: string | undefined) => form && HYPHEN + form
  return [ofYear(date), ofAny(date), ofYear(inYear), ofAny(inYear)] as const
}

/**
 * How much a memory counts that says the asked day: as the words that the day stands for, or less if
 * it says it less exactly, or was written then. A year is a word in every form.
 * Chosen so that another year's `8 May` comes behind `2023-05-08`.
 */
const DAY_AND_MONTH = 2.5
const MONTH_ALONE = 0.9
const LESS_EXACT = [1, 0.5, 0.4, 0.2] as const
const WRITTEN = 0.2

const writtenAs = (form: string): string => `w${form}`

function formsOfWriting(written: number): readonly string[] {
  const of = new Date(written)
  const [year, month, day] = [of.getUTCFullYear(), of.getUTCMonth() + 1, of.getUTCDate()]
  const [date, , inMonth] = formsOf({ year, month, day })
  return [date, inMonth].flatMap((form) => (form ? writtenAs(form) : []))
}

/** The terms that a memory has for the days that it says, and for that of its writing. */
export function termsOfDays(days: readonly Day[], written: number): readonly string[] {
  const terms = formsOfWriting(written)
  if (days.length === 0) return terms
  const said = days.filter(({ year, day }) => year !== undefined || day !== undefined)
  const forms = said.flatMap((day) => formsOf(day)).filter((form) => form !== undefined)
  return [...new Set([...forms, ...terms])]
}

/**
 * The days that a question names: weighted terms by the word that stands for the day, its month alone
 * or the most exact of the terms.
 */
export function daysAsked(q: string): ReadonlyMap<string, ReadonlyMap<string, number>> {
  const words = tokensOf(q)
  const asked = new Map<string, ReadonlyMap<string, number>>()
  const row = Int32Array.from(words, (_, at) => at + 1)
  const asWords = Object.keys(AS_A_WORD).filter((month) => AS_A_WORD[Number(month)]?.test(q))
  for (const each of daysIn(row, Int32Array.from(['', ...words], calendarValue))) {
    const forms = formsOf(each)
    const first = forms.findIndex((form) => form !== undefined)
    const exact = forms[first] ?? ''
    if (first === forms.length - 1) {
      const word = words[each.at] ?? ''
      const isMonth = alone.has(spellingOf(word)) && !asWords.includes(`${each.month}`)
      if (isMonth) asked.set(word, new Map([[exact, MONTH_ALONE]]))
      continue
    }
    const weights = new Map(each.year === undefined ? [] : [[writtenAs(exact), WRITTEN]])
    for (const [at, form] of forms.entries()) if (form) weights.set(form, LESS_EXACT[at] ?? 0)
    weights.set(exact, each.day === undefined ? 1 : DAY_AND_MONTH)
    asked.set(exact, weights)
  }
  return asked
}

/** Whether it stands for a day, and is no word of a text. */
export const isDayTerm = (term: string): boolean => term.includes(HYPHEN)

/** As people see it: a day or month of a year in ISO's form; others are not shown. */
export function shownTerm(term: string): readonly string[] {
  if (!isDayTerm(term)) return [term]
  return /^\d/.test(term) ? [term.replaceAll(HYPHEN, '-')] : []
}
