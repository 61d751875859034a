/** Filters memories while one types, by requesting the page with the form's values. */
const AFTER_MS = 150

const form = document.querySelector<HTMLFormElement>('form[data-finds]')
const list = document.getElementById(form?.dataset.finds ?? '')
const found = document.getElementById('found')

if (form && list) listen(form, list)

showChosen()

/** Scrolls the list, not the page. */
function showChosen(): void {
  const pane = document.querySelector('.beside #list')
  const chosen = pane?.querySelector('.memories [aria-current]')
  if (!pane || !chosen) return
  const end = Math.min(pane.getBoundingClientRect().bottom, innerHeight)
  pane.scrollTop += Math.max(0, chosen.getBoundingClientRect().bottom - end)
}

function listen(form: HTMLFormElement, list: HTMLElement): void {
  let waiting: ReturnType<typeof setTimeout> | undefined
  let asking = new AbortController()
  const soon = () => {
    clearTimeout(waiting)
    waiting = setTimeout(() => {
      asking.abort()
      asking = new AbortController()
      show(form, list, asking.signal).catch(() => {})
    }, AFTER_MS)
  }
  form.addEventListener('input', soon)
  // Announces the number of selected items.
  list.addEventListener('change', () => {
    say(`${list.querySelectorAll(':checked').length} selected`)
  })
}

function say(words: string): void {
  if (found) found.textContent = words
}

/** The page's address with the form's values, for reloads. */
function addressOf(form: HTMLFormElement): URL {
  const address = new URL(document.body.dataset.from ?? location.href, location.href)
  for (const name of ['q', 'prefix', 'order', 'pinned', 'after', 'until', 'deleted']) {
    address.searchParams.delete(name)
  }
  for (const [name, value] of new FormData(form)) {
    if (value !== '') address.searchParams.set(name, String(value))
  }
  return address
}

async function show(form: HTMLFormElement, list: HTMLElement, signal: AbortSignal): Promise<void> {
  const address = addressOf(form)
  const headers = { accept: 'text/html' }
  const response = await fetch(address, { headers, redirect: 'manual', signal })
  // Signed out: the submitted form leads to the sign-in.
  if (response.type === 'opaqueredirect') return form.submit()
  const page = new DOMParser().parseFromString(await response.text(), 'text/html')
  const fresh = page.getElementById(list.id)
  if (!fresh || signal.aborted) return
  list.replaceChildren(...fresh.childNodes)
  history.replaceState(null, '', address)
  say(list.querySelector('.caption, .empty')?.textContent ?? '')
}
