/** Uploads a file as it is, and shows the response. */
const place = document.querySelector<HTMLElement>('[data-uploads]')
const form = place?.querySelector('form')
const outcome = document.getElementById('outcome')

if (place && form && outcome) {
  place.hidden = false
  listen(form, outcome)
}

function listen(form: HTMLFormElement, outcome: HTMLElement): void {
  for (const none of document.querySelectorAll<HTMLElement>('[data-without-script]')) {
    none.hidden = true
  }
  let isSending = false
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    if (isSending) return
    isSending = true
    outcome.textContent = 'The file is being sent…'
    const answered = await send(form, event.submitter).catch(() => undefined)
    outcome.replaceChildren(...(answered ?? [broken]))
    isSending = false
  })
}

const broken =
  'The connection ended before there was an answer. Check what is stored before you send it again.'

async function send(form: HTMLFormElement, button: HTMLElement | null): Promise<ChildNode[]> {
  const fields = new FormData(form, button)
  const address = new URL(form.action)
  for (const [name, value] of fields) {
    if (typeof value === 'string') address.searchParams.set(name, value)
  }
  const headers = { accept: 'text/html', 'content-type': 'application/json' }
  const body = fields.get('file')
  const response = await fetch(address, { method: 'POST', headers, body })
  const page = new DOMParser().parseFromString(await response.text(), 'text/html')
  const shown = page.getElementById('outcome') ?? page.querySelector('main')
  return [...(shown?.childNodes ?? [])]
}
