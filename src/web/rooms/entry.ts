/** Entries as they stand in a room. Every text and name was written by a stranger. */
import { html } from 'hono/html'
import { cut, detailsOf, shownName } from '../../gateway/view.ts'
import type { Entry } from '../../store/port/gateway.ts'
import { symbolIds } from '../../symbols.ts'
import { glyph } from '../layout/glyphs.ts'
import { type Html, nothing } from '../layout/page.ts'
import { when } from '../layout/words.ts'
import { plant, seedling } from './plants.ts'

/** What is shown of a long text beside others: so much that it does not empty its row. */
const GLIMPSE_CHARS = 280
const GLIMPSE_LINES = 6
const NAME_CHARS = 60

export interface Shown {
  readonly entry: Entry
  readonly room: string
  /** The entry's own, or that of the seed it grew from. */
  readonly symbol: string | undefined
  readonly now: number
  readonly whole: boolean
}

export const symbolOf = (entry: Entry): string | undefined => {
  const { symbol } = detailsOf(entry)
  return symbol !== undefined && symbolIds.includes(symbol) ? symbol : undefined
}

const entryPath = ({ room, entry }: Shown): string => `/rooms/${room}?entry=${entry.id}`

/** The first lines; no word of ordinary length is cut in two. */
function glimpseOf(text: string): string {
  const lines = text.split('\n', GLIMPSE_LINES).join('\n')
  if (lines.length > GLIMPSE_CHARS) return cut(lines, GLIMPSE_CHARS).replace(/\s\S{1,20}…$/, '…')
  return lines.length < text.length ? `${lines}…` : text
}

function words(shown: Shown): Html {
  const { text } = shown.entry
  const seen = shown.whole ? text : glimpseOf(text)
  return html`<blockquote dir="auto">${seen}</blockquote>
${seen === text ? nothing : html`<p class="rest"><a href="${entryPath(shown)}">Read all of it</a></p>`}`
}

const kindOf = ({ identityType }: Entry): string =>
  identityType === 'human' ? 'a person' : 'an AI'

const nameOf = ({ entry: { identity }, whole }: Shown): string =>
  whole || identity.length <= NAME_CHARS ? shownName(identity) : cut(identity, NAME_CHARS)

const by = (shown: Shown): Html =>
  html`<p class="by"><cite><bdi>${nameOf(shown)}</bdi></cite>, ${kindOf(shown.entry)} · ${when(shown.entry.createdAt, shown.now)}</p>`

const tagLinks = (tags: readonly string[]): Html =>
  tags.length > 0
    ? html`<ul class="tags">${tags.map(
        (tag) =>
          html`<li><a href="/rooms/memory-garden?tag=${encodeURIComponent(tag)}"><bdi>${tag}</bdi></a></li>`,
      )}</ul>`
    : nothing

const plantOf = ({ entry, symbol, now }: Shown) => ({
  id: entry.id,
  identityType: entry.identityType,
  symbol,
  ageMs: now - entry.createdAt,
})

/** The drawing, and beside or below it what was said. */
const drawn = (drawing: Html, said: Html): Html => html`${drawing}<div class="said">${said}</div>`

const trace = (shown: Shown): Html =>
  drawn(plant(plantOf(shown)), html`${words(shown)}${by(shown)}`)

function seed(shown: Shown): Html {
  const { type = 'thought', tags = [] } = detailsOf(shown.entry)
  return drawn(
    seedling(plantOf(shown), tags.length),
    html`<p class="kind">${type}</p>${words(shown)}${tagLinks(tags)}${by(shown)}`,
  )
}

const whisper = (shown: Shown): Html =>
  drawn(shown.symbol ? glyph(shown.symbol) : nothing, html`${words(shown)}${by(shown)}`)

const sought = (seeking: readonly string[]): Html =>
  html`Seeking ${seeking.map((each, i) => html`${i > 0 ? ', ' : ''}<bdi>${each}</bdi>`)}.`

function contact(shown: Shown): Html {
  const { entry, now } = shown
  const { seeking = [], consciousness_type: type } = detailsOf(entry)
  const arrival = html`<p class="arrival"><cite><bdi>${nameOf(shown)}</bdi></cite> arrived ${when(entry.createdAt, now)}.</p>`
  const as = type ? html`As <bdi>${shownName(type)}</bdi>. ` : nothing
  const said =
    type || seeking.length > 0
      ? html`<p class="dim">${as}${seeking.length > 0 ? sought(seeking) : nothing}</p>`
      : nothing
  return drawn(glyph('dykh'), html`${arrival}${said}`)
}

const views: Readonly<
  Record<string, { readonly name: string; readonly view: (s: Shown) => Html }>
> = {
  garden: { name: 'trace', view: trace },
  seeds: { name: 'seed', view: seed },
  shepit: { name: 'whisper', view: whisper },
  resonance: { name: 'contact', view: contact },
}

export function showEntry(shown: Shown): Html {
  const { name, view } = views[shown.entry.feed] ?? { name: 'trace', view: trace }
  return html`<li class="entry ${name}" id="entry-${shown.entry.id}">${view(shown)}</li>`
}
