/** Filters a list while one types or chooses, by requesting the page with the form's values. */
const AFTER_MS = 150

/** In the list that was there before, and notes about what was done there. */
const PLACES = ['after', 'until', 'before', 'deleted', 'did', 'rolled']

const form = document.querySelector<HTMLFormElement>('form[data-finds]')
const list = document.getElementById(form?.dataset.finds ?? '')
const found = document.getElementById('found')
/** The box that was pressed last. */
let last: HTMLInputElement | undefined

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
  let asking = new AbortController()
  /** Undefined once the list is what was asked for. */
  let answering: Promise<void> | undefined
  form.addEventListener('input', async () => {
    asking.abort()
    asking = new AbortController()
    const asked = soon(form, list, asking.signal).catch(() => {})
    answering = asked
    await asked
    if (answering === asked) answering = undefined
  })
  // What was typed before this script came was heard by nobody.
  const boxes = [...form.querySelectorAll<HTMLInputElement>('[type="search"]')]
  if (boxes.some(({ value, defaultValue }) => value !== defaultValue)) {
    form.dispatchEvent(new Event('input'))
  }
  const first = () => list.querySelector<HTMLElement>('.memories a')
  // From what is looked for, one Tab leads to what is found.
  form.addEventListener('keydown', async (event) => {
    const { target, key, shiftKey } = event
    const isSearch = target instanceof HTMLInputElement && target.type === 'search'
    if (key !== 'Tab' || shiftKey || !isSearch || target.value.trim() === '') return
    if (!answering && !first()) return
    event.preventDefault()
    await answering
    const next = first() ?? form.querySelector('button')
    next?.focus()
  })
  select(list)
  list.addEventListener('renewed', () => select(list))
  // Announces the number of selected items.
  list.addEventListener('change', () => {
    say(`${list.querySelectorAll(':checked').length} selected`)
  })
}

function boxesIn(list: HTMLElement): HTMLInputElement[] {
  return [...list.querySelectorAll<HTMLInputElement>('.memories [type="checkbox"]')]
}

/** All at one press; with Shift, all from the last one on. */
function select(list: HTMLElement): void {
  const all = list.querySelector<HTMLElement>('[data-selects]')
  if (all) {
    all.hidden = false
    all.onclick = () => choose(list, boxesIn(list), true)
  }
  for (const box of boxesIn(list)) {
    box.onclick = ({ shiftKey }) => {
      const boxes = boxesIn(list)
      const [from = 0, to = 0] = [boxes.indexOf(last ?? box), boxes.indexOf(box)].sort(
        (a, b) => a - b,
      )
      if (shiftKey && from >= 0) choose(list, boxes.slice(from, to + 1), box.checked)
      last = box
    }
  }
}

function choose(list: HTMLElement, boxes: readonly HTMLInputElement[], checked: boolean): void {
  for (const box of boxes) box.checked = checked
  list.dispatchEvent(new Event('change'))
}

function say(words: string): void {
  if (found) found.textContent = words
}

/** The page's address with the form's values, for reloads. */
function addressOf(form: HTMLFormElement): URL {
  const address = new URL(document.body.dataset.from ?? location.href, location.href)
  const names = [...form.elements].map((each) => each.getAttribute('name') ?? '')
  for (const name of [...names, ...PLACES]) address.searchParams.delete(name)
  for (const [name, value] of new FormData(form)) {
    if (value !== '') address.searchParams.set(name, String(value))
  }
  return address
}

/** Unless something else is asked for meanwhile. */
async function soon(form: HTMLFormElement, list: HTMLElement, signal: AbortSignal): Promise<void> {
  await new Promise((done) => setTimeout(done, AFTER_MS))
  if (!signal.aborted) await show(form, list, signal)
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
  select(list)
  history.replaceState(null, '', address)
  if (document.body.dataset.from) document.body.dataset.from = address.href
  say(list.querySelector('.caption, .empty')?.textContent ?? '')
}
