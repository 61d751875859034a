/**
 * Numbers, sizes and times for people. Loaded lazily: the formatters load megabytes of locale data.
 */
import { html } from 'hono/html'
import { lazily } from '../../lazily.ts'
import { iso } from '../../time.ts'
import { relation } from '../browser/ago.ts'
import { type Html, nothing } from './page.ts'

const numbers = lazily(() => new Intl.NumberFormat('en'))

export const number = (value: number): string => numbers().format(value)

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${number(count)} ${count === 1 ? one : many}`

const KIB = 1_024
const MIB = 1_048_576

const tenths = (value: number): string => number(Math.round(value * 10) / 10)

export function size(bytes: number): string {
  if (bytes < KIB) return plural(bytes, 'byte')
  return bytes < MIB ? `${tenths(bytes / KIB)} KiB` : `${tenths(bytes / MIB)} MiB`
}

const exact = lazily(
  () =>
    new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' }),
)

export const inUtc = (at: number): string => `${exact().format(at)} UTC`

/** Relative time; the exact time is in the title. */
export const when = (at: number, now: number): Html =>
  html`<time datetime="${iso(at)}" title="${inUtc(at)}"${at > now ? nothing : html` data-ago`}>${relation((at - now) / 1000)}</time>`

const date = lazily(() => new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }))

/** The day; the exact time is in the title. */
export const onDay = (at: number): Html =>
  html`<time datetime="${iso(at)}" title="${inUtc(at)}" data-day>${date().format(at)}</time>`

/** Days and times of day, for whoever reads them there. */
export interface Clock {
  readonly day: (at: number) => string
  readonly time: (at: number) => Html
  /** Day and time, as text. */
  readonly moment: (at: number) => string
  readonly exactly: (at: number) => Html
}

const known = (timeZone: string | undefined): string => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone
  } catch {
    return 'UTC'
  }
}

/** `zone`: as a browser names it; UTC, and said to be, if it is not known. */
export function clockIn(zone: string | undefined): Clock {
  const timeZone = zone ? known(zone) : 'UTC'
  const mark = timeZone === 'UTC' ? ' UTC' : ''
  const days = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeZone })
  const times = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short', timeZone })
  const short = new Intl.DateTimeFormat('en-GB', {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    timeZone,
  })
  const time = (at: number) => times.format(at) + mark
  const moment = (at: number) => `${short.format(at)}, ${time(at)}`
  const timed = (at: number, said: string) =>
    html`<time datetime="${iso(at)}" title="${inUtc(at)}">${said}</time>`
  return {
    day: (at) => days.format(at),
    time: (at) => timed(at, time(at)),
    moment,
    exactly: (at) => timed(at, moment(at)),
  }
}
