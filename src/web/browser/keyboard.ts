/**
 * Keys for those who read with both hands on them: j and k go through a list, ? tells of them all,
 * and any other presses or focuses what names it in aria-keyshortcuts.
 */
const OFF = 'keys-off'

const HELP = [
  ['/', 'Search'],
  ['j, k', 'Next and previous in a list'],
  ['Enter', 'Open'],
  ['e', 'Edit the memory'],
  ['?', 'This help'],
] as const

/** What can be opened in lists, in the order of the page. */
const ROWS = 'main :is(.memories li > a, .feed .what :is(a, summary), .log th a, .agents th a)'

document.addEventListener('keydown', (event) => {
  const { key, target } = event
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
  if (target instanceof Element && target.matches('input:not([type="checkbox"]), textarea, select'))
    return
  if (key !== '?' && localStorage.getItem(OFF)) return
  if (key === '?') help().showModal()
  else if (key === 'j') step(1)
  else if (key === 'k') step(-1)
  else if (!press(key)) return
  event.preventDefault()
})

function step(by: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>(ROWS)].filter((each) =>
    each.checkVisibility(),
  )
  const here = rows.indexOf(document.activeElement as HTMLElement)
  const current = rows.findIndex((each) => each.ariaCurrent !== null)
  const at = here < 0 ? current : here
  const next = at < 0 ? rows[0] : rows[at + by]
  next?.focus()
}

/** A field of the page before a link of the navigation. False if nothing visible has this key. */
function press(key: string): boolean {
  const named = document.querySelectorAll<HTMLElement>(`[aria-keyshortcuts="${CSS.escape(key)}"]`)
  const visible = [...named].filter((each) => each.checkVisibility())
  const found = visible.find((each) => each instanceof HTMLInputElement) ?? visible[0]
  if (found instanceof HTMLInputElement) found.select()
  else found?.click()
  found?.focus()
  return found !== undefined
}

function help(): HTMLDialogElement {
  const there = document.querySelector<HTMLDialogElement>('#keys')
  if (there) return there
  const dialog = document.createElement('dialog')
  dialog.id = 'keys'
  dialog.setAttribute('closedby', 'any')
  dialog.setAttribute('aria-label', 'Keys')
  const list = document.createElement('dl')
  list.className = 'facts'
  for (const [key, words] of HELP) {
    const [name, meaning] = [document.createElement('dt'), document.createElement('dd')]
    const code = document.createElement('kbd')
    code.textContent = key
    name.append(code)
    meaning.textContent = words
    list.append(name, meaning)
  }
  dialog.append(list, offSwitch())
  document.body.append(dialog)
  return dialog
}

/** Speech input types what it hears: all but ? can be switched off. */
function offSwitch(): HTMLElement {
  const label = document.createElement('label')
  label.className = 'mark'
  const box = document.createElement('input')
  box.type = 'checkbox'
  box.checked = localStorage.getItem(OFF) === null
  box.addEventListener('change', () =>
    box.checked ? localStorage.removeItem(OFF) : localStorage.setItem(OFF, 'yes'),
  )
  label.append(box, 'Use these keys')
  return label
}
