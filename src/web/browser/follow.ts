/**
 * Keeps a page as things are: when something happens in the home that it follows, the parts that are
 * marked data-live are asked for again. Whoever wants to know more listens to `home` on the document.
 */
const AT_MOST_EVERY_MS = 400
const TRY_AGAIN_MS = 5_000
/** For a page about many homes, which follows none. */
const LOOK_MS = 15_000

const { follows, looks, from } = document.body.dataset

let source: EventSource | undefined
/** As of the last event that was told: whoever listens again begins there. */
let address = follows
let waiting = false
let behind = false

if (follows) {
  // A browser has few connections to one place: a page that nobody sees gives its own up.
  document.addEventListener('visibilitychange', () => (document.hidden ? rest() : listen()))
  if (!document.hidden) listen()
} else if (looks !== undefined) {
  setInterval(() => document.hidden || changed(), LOOK_MS)
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
    changed()
  })
  // What it could not be told of while the connection was down is looked up.
  source.addEventListener('missed', changed)
  // Why it ended is seen by asking for the page.
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

/** False when the page did not come. */
async function show(): Promise<boolean> {
  const response = await fetch(from ?? location.href, {
    headers: { accept: 'text/html' },
    redirect: 'manual',
  })
  if (response.type === 'opaqueredirect' || response.status === 401) return signedOut()
  if (!response.ok) return response.status < 500
  const page = new DOMParser().parseFromString(await response.text(), 'text/html')
  for (const part of document.querySelectorAll<HTMLElement>('[data-live][id]')) {
    replace(part, page.getElementById(part.id))
  }
  return true
}

/** For scripts that keep what was typed, too. */
function signedOut(): boolean {
  rest()
  document.dispatchEvent(new CustomEvent('signed-out'))
  return true
}

const HELD = ':popover-open, [open]:not([id]), [type="checkbox"]:checked'

/** What has a name is opened in what is new, too. */
function openAgain(part: HTMLElement, fresh: HTMLElement): void {
  for (const { id } of part.querySelectorAll('[open][id]')) {
    fresh.querySelector(`#${id}`)?.setAttribute('open', '')
  }
}

/** What the reader holds, has opened or has selected is not taken out of their hands. */
function replace(part: HTMLElement, fresh: HTMLElement | null): void {
  if (fresh) openAgain(part, fresh)
  const held = part.contains(document.activeElement) || part.querySelector(HELD)
  if (!fresh || held || part.innerHTML === fresh.innerHTML) return
  part.replaceChildren(...fresh.childNodes)
  part.dispatchEvent(new CustomEvent('renewed', { bubbles: true }))
}
