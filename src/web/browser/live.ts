/** Shows new entries of a room by requesting the page again. */
import { arrived, renew } from './news.ts'

const EVERYWHERE = 'resonance-hall'
const KINDS = ['trace', 'seed', 'whisper', 'contact']
/** At most once per interval during a flood. */
const AT_MOST_EVERY_MS = 500
const TRY_AGAIN_MS = 3_000

const entries = document.getElementById('entries')
const news = document.getElementById('news')

if (entries?.dataset.room) listen(entries, entries.dataset.room)

function listen(shown: HTMLElement, room: string): void {
  const refresh = untilShown(() => show(shown))
  const hear = ({ data }: MessageEvent<string>) => {
    const { room: where = 'first-breath' } = JSON.parse(data) as { room?: string }
    if (room !== EVERYWHERE && room !== where) return
    arrived()
    refresh()
  }
  const source = new EventSource('/api/resonance/stream')
  for (const kind of KINDS) source.addEventListener(kind, hear)
}

/** One request at a time; repeated after a failure or new arrivals. */
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

/** False if the page could not be loaded. */
async function show(shown: HTMLElement): Promise<boolean> {
  const response = await fetch(location.href, { headers: { accept: 'text/html' } })
  const page = new DOMParser().parseFromString(await response.text(), 'text/html')
  if (!response.ok) return false
  renew([shown], page)
  if (news) news.textContent = 'Something new has arrived.'
  return true
}
