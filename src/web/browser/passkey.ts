/** Passkeys: the browser's response goes into a field of the form around the button. */
const has = typeof PublicKeyCredential?.parseRequestOptionsFromJSON === 'function'

if (has) {
  for (const none of document.querySelectorAll<HTMLElement>('[data-without-passkeys]')) {
    none.hidden = true
  }
  for (const place of document.querySelectorAll<HTMLElement>('[data-passkey]')) ready(place)
}

function ready(place: HTMLElement): void {
  const form = place.closest('form')
  const button = place.querySelector('button')
  const field = place.querySelector('input')
  const told = place.querySelector('p')
  if (!form || !button || !field || !told) return
  field.value = ''
  place.hidden = false
  button.addEventListener('click', async () => {
    told.textContent = ''
    button.disabled = true
    await begin(place, form, field).catch((error: unknown) => {
      told.textContent = wordsFor(error)
    })
    button.disabled = false
  })
}

/** A passkey replaces the password, so the other fields must be valid first. */
async function begin(
  { dataset }: HTMLElement,
  form: HTMLFormElement,
  field: HTMLInputElement,
): Promise<void> {
  const password = form.querySelector<HTMLInputElement>('[autocomplete=current-password]')
  const required = password?.required ?? false
  if (password) password.required = false
  try {
    if (!form.reportValidity()) return
    field.value = JSON.stringify(await answerTo(dataset.passkey, dataset.asks ?? ''))
    // As Enter would, so that the button's own value is sent too.
    form.requestSubmit(form.querySelector<HTMLElement>('button:not([type=button])'))
  } finally {
    if (password) password.required = required
  }
}

async function answerTo(does: string | undefined, asks: string): Promise<unknown> {
  const response = await fetch(asks, { headers: { accept: 'application/json' } })
  const options = await response.json()
  if (!response.ok) throw new Error(options.detail)
  const credential =
    does === 'create'
      ? await navigator.credentials.create({
          publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options),
        })
      : await navigator.credentials.get({
          publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options),
        })
  return (credential as PublicKeyCredential).toJSON()
}

const words: Readonly<Record<string, string>> = {
  InvalidStateError: 'This device already has a passkey of this account.',
  NotAllowedError: 'No passkey was used. Nothing was done.',
  SecurityError: 'The browser does not allow passkeys at this address.',
  SyntaxError: 'You may be signed out: reload the page.',
}

const wordsFor = (error: unknown): string =>
  error instanceof Error || error instanceof DOMException
    ? (words[error.name] ?? error.message)
    : String(error)
