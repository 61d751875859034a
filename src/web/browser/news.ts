/**
 * News of the live parts of a page: shown at once, unless that would move what a person points at,
 * reads or has chosen. Then they wait under a button that counts them.
 */
const HELD = ':popover-open, :modal, [open]:not([id]), [type="checkbox"]:checked'

const waiting = new Map<HTMLElement, HTMLElement>()
let count = 0
let button: HTMLButtonElement | undefined

/** Something happened, which `renew` may show later. */
export const arrived = (): void => void count++

const isHeld = (part: HTMLElement): boolean =>
  part.contains(document.activeElement) || part.querySelector(HELD) !== null

/** Pointed at, selected in, or scrolled into. */
function isRead(part: HTMLElement): boolean {
  const { top, bottom } = part.getBoundingClientRect()
  const selection = getSelection()
  const isSelected = selection?.isCollapsed === false && selection.containsNode(part, true)
  return part.matches(':hover') || isSelected || (top < 0 && bottom > 0)
}

/** Parts as they are in the page that was asked for; those marked `waits` are there to be read. */
export function renew(parts: Iterable<HTMLElement>, page: Document): void {
  waiting.clear()
  for (const part of parts) {
    const fresh = page.getElementById(part.id)
    if (fresh) keep(part, fresh)
    if (!fresh || part.innerHTML === fresh.innerHTML) continue
    const waits = part.dataset.live === 'waits'
    if (!isHeld(part) && !(waits && isRead(part))) put(part, fresh)
    else if (waits) waiting.set(part, fresh)
  }
  tell()
}

/** What was opened or chosen stays so. */
function keep(part: HTMLElement, fresh: HTMLElement): void {
  for (const { id } of part.querySelectorAll('[open][id]')) {
    fresh.querySelector(`#${CSS.escape(id)}`)?.setAttribute('open', '')
  }
}

function put(part: HTMLElement, fresh: HTMLElement): void {
  keep(part, fresh)
  const chosen = [...part.querySelectorAll<HTMLInputElement>(':checked')].map(({ name }) => name)
  part.replaceChildren(...fresh.childNodes)
  for (const each of part.querySelectorAll<HTMLInputElement>('[type="checkbox"]')) {
    each.checked = chosen.includes(each.name)
  }
  part.dispatchEvent(new CustomEvent('renewed', { bubbles: true }))
}

function tell(): void {
  if (waiting.size === 0) {
    count = 0
    if (button) button.hidden = true
    return
  }
  button ??= makeButton()
  button.hidden = false
  button.textContent = count > 0 ? `${count} new` : 'New'
}

/** Out of the flow, so that it moves nothing either; announced by screen readers. */
function makeButton(): HTMLButtonElement {
  const told = document.createElement('div')
  told.className = 'news'
  told.setAttribute('role', 'status')
  const made = document.createElement('button')
  made.type = 'button'
  made.addEventListener('click', showAll)
  told.append(made)
  document.body.append(told)
  return made
}

function showAll({ detail }: MouseEvent): void {
  const [first] = waiting.keys()
  for (const [part, fresh] of waiting) put(part, fresh)
  waiting.clear()
  tell()
  if (!first) return
  if (first.getBoundingClientRect().top < 0) first.scrollIntoView()
  // By keyboard: on with what is new.
  if (detail > 0) return
  first.tabIndex = -1
  first.focus()
}
