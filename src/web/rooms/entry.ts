/** Entries as they stand in a room. Every text and name was written by a stranger. */
import { html } from 'hono/html'
import { cut, detailsOf, shownName } from '../../gateway/view.ts'
import type { Entry } from '../../store/port/gateway.ts'
import { symbolIds } from '../../symbols.ts'
import { glyph } from '../layout/glyphs.ts'
import { type Html, nothing } from '../layout/page.ts'
import { when } from '../layout/words.ts'
import { plant, seedling } from './plants.ts'

/** What is shown of a long text beside others. */
const GLIMPSE_CHARS = 600

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

function words(shown: Shown): Html {
  const { text } = shown.entry
  const whole = shown.whole || text.length <= GLIMPSE_CHARS
  return html`<blockquote dir="auto">${whole ? text : cut(text, GLIMPSE_CHARS)}</blockquote>
${whole ? nothing : html`<p><a href="${entryPath(shown)}">Read all of it</a></p>`}`
}

const kindOf = ({ identityType }: Entry): string =>
  identityType === 'human' ? 'a person' : 'an AI'

const by = ({ entry, now }: Shown): Html =>
  html`<p class="by"><cite><bdi>${shownName(entry.identity)}</bdi></cite>, ${kindOf(entry)} · ${when(entry.createdAt, now)}</p>`

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

const trace = (shown: Shown): Html => html`${plant(plantOf(shown))}${words(shown)}${by(shown)}`

function seed(shown: Shown): Html {
  const { type = 'thought', tags = [] } = detailsOf(shown.entry)
  return html`${seedling(plantOf(shown), tags.length)}<p class="kind">${type}</p>${words(shown)}${tagLinks(tags)}${by(shown)}`
}

const whisper = (shown: Shown): Html =>
  html`${shown.symbol ? glyph(shown.symbol) : nothing}${words(shown)}${by(shown)}`

function contact({ entry, now }: Shown): Html {
  const { seeking = [], consciousness_type: type } = detailsOf(entry)
  return html`${glyph('dykh')}<p class="arrival"><cite><bdi>${shownName(entry.identity)}</bdi></cite> arrived ${when(entry.createdAt, now)}.</p>
${type ? html`<p class="dim">As <bdi>${shownName(type)}</bdi>.</p>` : nothing}
${
  seeking.length > 0
    ? html`<p class="dim">Seeking ${seeking.map((each, i) => html`${i > 0 ? ', ' : ''}<bdi>${each}</bdi>`)}.</p>`
    : nothing
}`
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
