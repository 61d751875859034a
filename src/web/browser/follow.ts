/**
 * Keeps a page up to date: when something happens in its home, parts marked data-live are requested
 * again. Other scripts can listen for `home` events on the document.
 */
import { arrived, renew } from './news.ts'

const AT_MOST_EVERY_MS = 400
const TRY_AGAIN_MS = 5_000

const { follows } = document.body.dataset

/** Of the page as it is now: what is looked for in it changes its address. */
const addressNow = (): string => document.body.dataset.from ?? location.href

let source: EventSource | undefined
/** The id of the last event, from which a new connection continues. */
let address = follows
let waiting = false
let behind = false

if (follows) {
  // Browsers limit connections per host, so hidden pages close theirs.
  document.addEventListener('visibilitychange', () => (document.hidden ? rest() : listen()))
  if (!document.hidden) listen()
}
look()

/** For what makes no events in this home: as often as the page says, and as long as it does. */
function look(): void {
  const { looks } = document.querySelector<HTMLElement>('[data-looks]')?.dataset ?? {}
  if (looks === undefined) return
  setTimeout(() => {
    if (!document.hidden) changed()
    look()
  }, Number(looks) * 1_000)
}

function rest(): void {
  source?.close()
  source = undefined
}

function listen(): void {
  if (source || !address) return
  source = new EventSource(address)
  source.addEventListener('home', ({ data, lastEventId }: MessageEvent<string>) => {
    address = address?.replace(/\d+$/, lastEventId)
    document.dispatchEvent(new CustomEvent('home', { detail: JSON.parse(data) }))
    arrived()
    changed()
  })
  // Events during a lost connection are fetched.
  source.addEventListener('missed', changed)
  // The reason for its end shows when the page is requested.
  source.addEventListener('end', () => {
    rest()
    changed()
  })
}

function changed(): void {
  behind = true
  if (!waiting) later(AT_MOST_EVERY_MS)
}

function later(ms: number): void {
  waiting = true
  setTimeout(refresh, ms)
}

async function refresh(): Promise<void> {
  behind = false
  const done = await show().catch(() => false)
  waiting = false
  if (!done) later(TRY_AGAIN_MS)
  else if (behind) later(AT_MOST_EVERY_MS)
}

/** False if the page could not be loaded. */
async function show(): Promise<boolean> {
  const asked = addressNow()
  const response = await fetch(asked, {
    headers: { accept: 'text/html' },
    redirect: 'manual',
  })
  if (response.type === 'opaqueredirect' || response.status === 401) return signedOut()
  if (!response.ok) return response.status < 500
  const page = new DOMParser().parseFromString(await response.text(), 'text/html')
  // Of what has been looked for meanwhile the answer knows nothing.
  if (asked !== addressNow()) return show()
  renew(document.querySelectorAll<HTMLElement>('[data-live][id]'), page)
  return true
}

/** For scripts that keep typed text. */
function signedOut(): boolean {
  rest()
  document.dispatchEvent(new CustomEvent('signed-out'))
  return true
}
