/** Copy buttons for fields and files. Without a clipboard they stay hidden. */
const SAID_MS = 2_000

ready(document)
document.addEventListener('renewed', ({ target }) => target instanceof Element && ready(target))

function ready(part: ParentNode): void {
  if (!navigator.clipboard) return
  const buttons = '[data-copies], [data-copies-from]'
  for (const button of part.querySelectorAll<HTMLButtonElement>(buttons)) {
    const { copies = '', copiesFrom } = button.dataset
    const field = document.getElementById(copies)
    if (copiesFrom) listen(button, () => copyFile(copiesFrom))
    else if (field) listen(button, () => navigator.clipboard.writeText(textOf(field)))
  }
}

function listen(button: HTMLButtonElement, copy: () => Promise<void>): void {
  const label = [...button.childNodes]
  button.hidden = false
  button.addEventListener('click', async () => {
    button.textContent = await copy().then(
      () => 'Copied',
      () => 'Not copied',
    )
    setTimeout(() => button.replaceChildren(...label), SAID_MS)
  })
}

const textOf = (field: HTMLElement): string =>
  field instanceof HTMLInputElement ? field.value : (field.textContent ?? '')

/** Browsers allow copying only during a click, so a promise is passed on. */
const copyFile = (address: string): Promise<void> =>
  navigator.clipboard.write([new ClipboardItem({ 'text/plain': fileAt(address) })])

async function fileAt(address: string): Promise<Blob> {
  const response = await fetch(address, { redirect: 'error' })
  if (!response.ok) throw new Error(response.statusText)
  return new Blob([await response.arrayBuffer()], { type: 'text/plain' })
}
