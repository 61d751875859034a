/** Submits a form once: a second click is ignored, and a long request is announced. */

/** The response may be a download, and a page may be cached. */
const AGAIN_AFTER_MS = 3_000

/** Shorter requests are not announced. */
const LONG_MS = 400

const sent = new WeakSet<HTMLFormElement>()

function sayItIsOnItsWay(form: HTMLFormElement): void {
  const note = document.createElement('p')
  note.className = 'dim'
  note.setAttribute('role', 'status')
  form.append(note)
  setTimeout(() => {
    note.textContent = 'Sending …'
  }, LONG_MS)
  // A cached page is restored to its initial state.
  addEventListener('pagehide', () => note.remove(), { once: true })
}

document.addEventListener('submit', (event) => {
  const form = event.target
  if (!(form instanceof HTMLFormElement) || form.method !== 'post') return
  if (sent.has(form)) return event.preventDefault()
  sent.add(form)
  // A download fires no event on this page.
  if (!event.submitter?.hasAttribute('formaction')) sayItIsOnItsWay(form)
  setTimeout(() => sent.delete(form), AGAIN_AFTER_MS)
})
