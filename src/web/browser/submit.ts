/** A form that changes something is sent once: a second press while the answer is on its way is none. */

/** A file may come instead of a page, and a page may be left in the air. */
const AGAIN_AFTER_MS = 3_000

const sent = new WeakSet<HTMLFormElement>()

document.addEventListener('submit', (event) => {
  const form = event.target
  if (!(form instanceof HTMLFormElement) || form.method !== 'post') return
  if (sent.has(form)) return event.preventDefault()
  sent.add(form)
  setTimeout(() => sent.delete(form), AGAIN_AFTER_MS)
})
