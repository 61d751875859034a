/** An agent's calls on each of the last days: four charts, and a table of the same numbers. */
import { html, raw } from 'hono/html'
import { lazily } from '../../../lazily.ts'
import { DAYS_KEPT, type DayOfActivity, type Today } from '../../../store/port/activity.ts'
import { type Html, nothing } from '../../layout/page.ts'
import { number, plural } from '../../layout/words.ts'

export const DAYS = DAYS_KEPT

const WIDTH = 300
const HEIGHT = 80
const STEP = WIDTH / DAYS

const dateOf = (day: number): string => new Date(day * 86_400_000).toISOString().slice(0, 10)

const short = lazily(
  () => new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', timeZone: 'UTC' }),
)

const shortOf = (day: number): string => short().format(day * 86_400_000)

/** Every day of the window, including days without calls. */
export function filled(days: readonly DayOfActivity[], first: number): DayOfActivity[] {
  const known = new Map(days.map((each) => [each.day, each]))
  return Array.from({ length: DAYS }, (_, i) => {
    const none = { day: first + i, reads: 0, writes: 0, conflicts: 0, refusals: 0 }
    return known.get(first + i) ?? none
  })
}

interface Series {
  readonly of: keyof Today
  readonly name: string
  readonly one: string
}

const series: readonly Series[] = [
  { of: 'writes', name: 'Writes', one: 'write' },
  { of: 'reads', name: 'Reads', one: 'read' },
  { of: 'conflicts', name: 'Conflicts', one: 'conflict' },
  { of: 'refusals', name: 'Refused calls', one: 'refused call' },
]

/** The top of the scale: 1, 2 or 5 with zeros, at least `most`. */
function topOf(most: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, most)))
  return [1, 2, 5, 10].map((n) => n * power).find((n) => n >= most) ?? most
}

function bar(value: number, i: number, top: number): string {
  if (value === 0) return ''
  const height = Math.max(2, (value / top) * HEIGHT)
  return `<rect x="${(i * STEP + 1).toFixed(1)}" y="${(HEIGHT - height).toFixed(1)}" width="${STEP - 2}" height="${height.toFixed(1)}"/>`
}

/** Stretched to the available width; the labels around it are not. */
const drawing = (values: readonly number[], top: number, said: string): Html =>
  html`<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${said}">${raw(
    `<path class="rule" d="M0 .5H${WIDTH}M0 ${HEIGHT / 2}H${WIDTH}"/>${values.map((value, i) => bar(value, i, top)).join('')}<path class="ground" d="M0 ${HEIGHT - 0.5}H${WIDTH}"/>`,
  )}</svg>`

function plot({ of, name, one }: Series, days: readonly DayOfActivity[]): Html {
  const values = days.map((day) => day[of])
  const total = values.reduce((sum, value) => sum + value, 0)
  const most = Math.max(...values)
  const top = topOf(most)
  const said = `${plural(total, one)} in ${DAYS} days, at most ${number(most)} on one day`
  return html`<figure class="plot ${of}">
<figcaption><strong>${name}</strong> <span class="dim">${number(total)}</span></figcaption>
<div class="field-of"><span class="scale" aria-hidden="true"><span>${number(top)}</span><span>0</span></span>
${drawing(values, top, said)}</div>
<p class="axis dim" aria-hidden="true"><span>${shortOf(days[0]?.day ?? 0)}</span><span>${shortOf(days[DAYS / 2]?.day ?? 0)}</span><span>today</span></p>
</figure>`
}

const isAnything = (day: DayOfActivity): boolean => series.some(({ of }) => day[of] > 0)

const row = (day: DayOfActivity): Html =>
  html`<tr><th scope="row">${dateOf(day.day)}</th>${series.map(({ of }) => html`<td class="number">${number(day[of])}</td>`)}</tr>`

/** The same numbers, newest first, without the days that had no calls. */
const table = (days: readonly DayOfActivity[]): Html => html`<details class="numbers">
<summary>The same as a table</summary>
<table class="list"><thead><tr><th scope="col">Day</th>${series.map(({ name }) => html`<th scope="col" class="number">${name}</th>`)}</tr></thead>
<tbody>${days.filter(isAnything).toReversed().map(row)}</tbody></table>
</details>`

/** Of what there is: nothing if there was no call. */
export function chart(days: readonly DayOfActivity[]): Html {
  const some = series.filter(({ of }) => days.some((day) => day[of] > 0))
  if (some.length === 0) return nothing
  return html`<section aria-labelledby="days">
<h2 id="days">The last ${DAYS} days</h2>
<div class="plots" id="plots" data-live>${some.map((each) => plot(each, days))}</div>
${table(days)}
</section>`
}
