/**
 * A form that changes something is sent once: a second press while the answer is on its way is none,
 * and what takes long is said to be on its way.
 */

/** A file may come instead of a page, and a page may be left in the air. */
const AGAIN_AFTER_MS = 3_000

/** What is quicker needs no word. */
const LONG_MS = 400

const sent = new WeakSet<HTMLFormElement>()

function sayItIsOnItsWay(form: HTMLFormElement): void {
  const note = document.createElement('p')
  note.className = 'dim'
  note.setAttribute('role', 'status')
  form.append(note)
  setTimeout(() => {
    note.textContent = 'On its way …'
  }, LONG_MS)
  // Whoever comes back to the page finds it as it was.
  addEventListener('pagehide', () => note.remove(), { once: true })
}

document.addEventListener('submit', (event) => {
  const form = event.target
  if (!(form instanceof HTMLFormElement) || form.method !== 'post') return
  if (sent.has(form)) return event.preventDefault()
  sent.add(form)
  // Of a file, which comes elsewhere, nobody would say that it is there.
  if (!event.submitter?.hasAttribute('formaction')) sayItIsOnItsWay(form)
  setTimeout(() => sent.delete(form), AGAIN_AFTER_MS)
})
