/**
 * Numbers, sizes and times for people. Loaded lazily: the formatters load megabytes of locale data.
 */
import { html } from 'hono/html'
import { lazily } from '../../lazily.ts'
import { iso } from '../../time.ts'
import type { Html } from './page.ts'

const numbers = lazily(() => new Intl.NumberFormat('en'))

export const number = (value: number): string => numbers().format(value)

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${number(count)} ${count === 1 ? one : many}`

export const size = (bytes: number): string =>
  bytes < 1024 ? plural(bytes, 'byte') : `${number(Math.round(bytes / 102.4) / 10)} KiB`

const relative = lazily(() => new Intl.RelativeTimeFormat('en', { numeric: 'auto' }))

const steps = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const

/** Relative time as plain text. */
export const relation = (seconds: number): string => {
  const step = steps.find(([, length]) => Math.abs(seconds) >= length)
  return step ? relative().format(Math.round(seconds / step[1]), step[0]) : 'just now'
}

const exact = lazily(
  () =>
    new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' }),
)

export const moment = (at: number): string => `${exact().format(at)} UTC`

/** Relative time; the exact time is in the title. */
export function when(at: number, now: number): Html {
  return html`<time datetime="${iso(at)}" title="${moment(at)}">${relation((at - now) / 1000)}</time>`
}

const date = lazily(() => new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }))

/** The day; the exact time is in the title. */
export const onDay = (at: number): Html =>
  html`<time datetime="${iso(at)}" title="${moment(at)}" data-day>${date().format(at)}</time>`

/** Days and times of day, for whoever reads them there. */
export interface Clock {
  readonly day: (at: number) => string
  readonly time: (at: number) => Html
  /** Day and time, as text. */
  readonly moment: (at: number) => string
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
  return {
    day: (at) => days.format(at),
    time: (at) => html`<time datetime="${iso(at)}" title="${moment(at)}">${time(at)}</time>`,
    moment: (at) => `${short.format(at)}, ${time(at)}`,
  }
}
