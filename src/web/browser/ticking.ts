/** Keeps the relative times of the past true while a page is open. */
import { relation } from './ago.ts'

const EVERY_MS = 15_000

function tick(): void {
  const now = performance.timeOrigin + performance.now()
  for (const each of document.querySelectorAll<HTMLTimeElement>('time[data-ago]')) {
    // A clock that is behind the server's makes nothing future.
    const said = relation(Math.min(0, Date.parse(each.dateTime) - now) / 1_000)
    if (each.textContent !== said) each.textContent = said
  }
}

setInterval(tick, EVERY_MS)
document.addEventListener('visibilitychange', tick)
