/** Shows times in the zone of this browser, and tells the console's pages which it is. */
const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
const exact = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short' })
const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long' })
const ONE_YEAR_SECONDS = 31_536_000

// biome-ignore lint/suspicious/noDocumentCookie: the alternative is not in all browsers.
document.cookie = `zone=${encodeURIComponent(timeZone)}; Path=/console; SameSite=Lax; Max-Age=${ONE_YEAR_SECONDS}`

shift(document)
document.addEventListener('renewed', ({ target }) => target instanceof Element && shift(target))

function shift(part: ParentNode): void {
  for (const each of part.querySelectorAll('time')) {
    const at = new Date(each.dateTime)
    each.title = exact.format(at)
    if (each.dataset.day !== undefined) each.textContent = day.format(at)
  }
}
