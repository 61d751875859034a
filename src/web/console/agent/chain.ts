/** What the activity page says of the chain of events, and what a browser needs to check it. */
import { html, raw } from 'hono/html'
import { eventView } from '../../../home/events.ts'
import type { HomeEvent, Link } from '../../../store/port/keeping/events.ts'
import { type Html, nothing } from '../../layout/page.ts'
import { number, onDay } from '../../layout/words.ts'

export interface ShownChain {
  readonly head: Link
  /** The event that the oldest retained one follows. */
  readonly base: Link
  /** Newest first. */
  readonly page: readonly HomeEvent[]
  /** The event that the page should begin with. */
  readonly newest: number
  /** What the oldest event of the page follows. */
  readonly previous: Link
}

const begun = ({ base }: ShownChain, oldest: HomeEvent | undefined): Html => {
  const event = base.id === 0 ? 'Its first event' : `Event ${number(base.id + 1)}`
  return oldest
    ? html`${event} <span class="dim">${onDay(oldest.createdAt)}</span>`
    : html`${event}`
}

const check = html` <button type="button" class="plain" data-checks="shown" hidden>Check those shown</button>`

/** `oldest`: the oldest retained event. Nothing for a home without events. */
export function chainFacts(chain: ShownChain, oldest: HomeEvent | undefined): Html {
  const { head, base, newest } = chain
  return head.id === 0
    ? nothing
    : html`<dl class="stats chain">
<div><dt>Unbroken since</dt><dd>${begun(chain, oldest)}</dd></div>
<div><dt>Events</dt><dd class="line">${number(head.id - base.id)}${newest > base.id ? check : nothing}</dd></div>
<div><dt>Head</dt><dd class="line"><code id="head">event ${head.id}, ${head.hash}</code> <button type="button" class="plain" data-copies="head" hidden>Copy<span class="away"> the head</span></button></dd></div>
</dl>
<p class="hint">The head is a hash of the newest event and of all before it. Keep it somewhere else, and you can tell later whether an event was changed or removed, or the home was set back to an older state; <code>agent-home check</code> does that for you. <strong id="checked" role="status"></strong></p>`
}

/** Escaped, so that no name in it ends the element. */
const json = (value: unknown): Html =>
  html`${raw(JSON.stringify(value).replaceAll('<', '\\u003c'))}`

/** The events of the page as agents get them, oldest first: data, which no browser executes. */
export function chainData({ head, page, newest, previous }: ShownChain): Html {
  const last = newest === head.id ? head : { id: newest }
  const events = page.toReversed().map(eventView)
  return html`<script type="application/json" id="chained">${json({ previous, events, last })}</script>`
}
