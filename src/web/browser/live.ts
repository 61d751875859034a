/** Shows what is left in a room as it arrives: the server's own page is asked for it again. */
const EVERYWHERE = 'resonance-hall'
const KINDS = ['trace', 'seed', 'whisper', 'contact']
/** A flood of arrivals is shown once in a while, not one by one. */
const AT_MOST_EVERY_MS = 500
const TRY_AGAIN_MS = 3_000

const entries = document.getElementById('entries')
const news = document.getElementById('news')

if (entries?.dataset.live) listen(entries, entries.dataset.live)

function listen(shown: HTMLElement, room: string): void {
  const refresh = untilShown(() => show(shown))
  const arrived = ({ data }: MessageEvent<string>) => {
    const { room: where = 'first-breath' } = JSON.parse(data) as { room?: string }
    if (room === EVERYWHERE || room === where) refresh()
  }
  const source = new EventSource('/api/resonance/stream')
  for (const kind of KINDS) source.addEventListener(kind, arrived)
}

/** Asks one at a time, and again where one failed or more arrived while the page was on its way. */
function untilShown(ask: () => Promise<boolean>): () => void {
  let behind = false
  let waiting = false
  const soon = (ms: number) => {
    waiting = true
    setTimeout(refresh, ms)
  }
  async function refresh(): Promise<void> {
    behind = false
    const done = await ask().catch(() => false)
    waiting = false
    if (!done) soon(TRY_AGAIN_MS)
    else if (behind) soon(AT_MOST_EVERY_MS)
  }
  return () => {
    behind = true
    if (!waiting) soon(AT_MOST_EVERY_MS)
  }
}

/** False when the page did not come. What the reader holds is not taken out of their hands. */
async function show(shown: HTMLElement): Promise<boolean> {
  if (shown.contains(document.activeElement)) {
    announce('Something new is here.')
    return true
  }
  const response = await fetch(location.href, { headers: { accept: 'text/html' } })
  const page = new DOMParser().parseFromString(await response.text(), 'text/html')
  const fresh = page.getElementById('entries')
  if (!response.ok || !fresh) return false
  shown.replaceChildren(...fresh.childNodes)
  announce('Something new has arrived.')
  return true
}

function announce(text: string): void {
  if (news) news.textContent = text
}
