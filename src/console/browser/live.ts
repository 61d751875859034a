/** Shows what is left in a room as it arrives: the server's own page is asked for it again. */
const EVERYWHERE = 'resonance-hall'
const KINDS = ['trace', 'seed', 'whisper', 'contact']
/** A flood of arrivals is shown once in a while, not one by one. */
const AT_MOST_EVERY_MS = 500

const entries = document.getElementById('entries')
const news = document.getElementById('news')

if (entries?.dataset.live) listen(entries, entries.dataset.live)

function listen(shown: HTMLElement, room: string): void {
  let waiting = false
  const refresh = async () => {
    await show(shown)
    waiting = false
  }
  const arrived = ({ data }: MessageEvent<string>) => {
    const { room: where = 'first-breath' } = JSON.parse(data) as { room?: string }
    if (waiting || (room !== EVERYWHERE && room !== where)) return
    waiting = true
    setTimeout(refresh, AT_MOST_EVERY_MS)
  }
  const source = new EventSource('/api/resonance/stream')
  for (const kind of KINDS) source.addEventListener(kind, arrived)
}

/** What the reader holds is not taken out of their hands. */
async function show(shown: HTMLElement): Promise<void> {
  if (shown.contains(document.activeElement)) return announce('Something new is here.')
  const response = await fetch(location.href, { headers: { accept: 'text/html' } })
  const page = new DOMParser().parseFromString(await response.text(), 'text/html')
  const fresh = page.getElementById('entries')
  if (!response.ok || !fresh) return
  shown.replaceChildren(...fresh.childNodes)
  announce('Something new has arrived.')
}

function announce(text: string): void {
  if (news) news.textContent = text
}
