/** Shows the size of a text in bytes while it is typed. */
const encoder = new TextEncoder()

for (const note of document.querySelectorAll<HTMLElement>('[data-bytes-of]')) {
  const field = document.getElementById(note.dataset.bytesOf ?? '')
  if (field instanceof HTMLTextAreaElement) watch(field, note, Number(note.dataset.most))
}

function watch(field: HTMLTextAreaElement, note: HTMLElement, most: number): void {
  const say = () => {
    const bytes = encoder.encode(field.value).length
    note.textContent = `${bytes.toLocaleString('en')} of ${most.toLocaleString('en')} bytes`
    note.classList.toggle('fault', bytes > most)
  }
  note.hidden = false
  field.addEventListener('input', say)
  say()
}
