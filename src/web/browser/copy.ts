/** Copy buttons: each names the field that it copies. Without a clipboard they stay hidden. */
ready(document)
document.addEventListener('renewed', ({ target }) => target instanceof Element && ready(target))

function ready(part: ParentNode): void {
  if (!navigator.clipboard) return
  for (const button of part.querySelectorAll<HTMLButtonElement>('button[data-copies]')) {
    const field = document.getElementById(button.dataset.copies ?? '')
    if (!field) continue
    button.hidden = false
    button.addEventListener('click', () => copy(button, field))
  }
}

const textOf = (field: HTMLElement): string =>
  field instanceof HTMLInputElement ? field.value : (field.textContent ?? '')

async function copy(button: HTMLButtonElement, field: HTMLElement): Promise<void> {
  await navigator.clipboard.writeText(textOf(field))
  button.textContent = 'Copied'
}
