/** Checks that each event of the page follows on the one before. The format: docs/proof.md. */
interface Event {
  readonly id: number
  readonly hash?: string
}

interface Chained {
  /** What the first event follows. */
  readonly previous: Required<Event>
  /** Oldest first. */
  readonly events: readonly Event[]
  /** The last event; with the hash that it must have if it is the newest of the home. */
  readonly last: Event
}

const sha256 = async (bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))

const hexOf = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')

const bytesOf = (hex: string): number[] =>
  (hex.match(/../g) ?? []).map((byte) => Number.parseInt(byte, 16))

/** RFC 8785, for what events hold: strings, whole numbers, objects. */
function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`
}

/** The hash of the chain up to an event, computed anew. */
async function hashAfter(previous: string, { hash: _, ...event }: Event): Promise<string> {
  const inner = await sha256(new TextEncoder().encode(canonical(event)))
  return hexOf(await sha256(Uint8Array.of(...bytesOf(previous), ...inner)))
}

/** The first thing that does not fit, in words. */
export async function faultIn({ previous, events, last }: Chained): Promise<string | undefined> {
  let link = previous
  for (const event of events) {
    const hash = await hashAfter(link.hash, event)
    if (event.id !== link.id + 1 || event.hash !== hash) {
      return `Event ${event.id} does not follow the one before it: it was changed, or an earlier one is missing.`
    }
    link = { id: event.id, hash }
  }
  if (link.id !== last.id) return `Event ${link.id + 1} is missing.`
  if ((last.hash ?? link.hash) !== link.hash) return `The head is not the hash of event ${last.id}.`
  return undefined
}

/** The page again, with its events as agents get them; undefined if it cannot be loaded. */
async function load(address: string): Promise<Chained | undefined> {
  const response = await fetch(address, { headers: { accept: 'text/html' }, redirect: 'manual' })
  const page = new DOMParser().parseFromString(await response.text(), 'text/html')
  const data = page.getElementById('chained')?.textContent
  return data ? JSON.parse(data) : undefined
}

async function check(address: string, told: HTMLElement): Promise<void> {
  told.replaceChildren()
  const chained = await load(address).catch(() => undefined)
  const fault = chained ? await faultIn(chained) : 'The events could not be loaded.'
  const count = chained?.events.length
  told.classList.toggle('fault', fault !== undefined)
  told.textContent =
    fault ?? `${count} event${count === 1 ? '' : 's'} checked: each follows the one before it.`
}

/** What checks everything is only loaded if somebody wants it. */
async function verify(address: string, told: HTMLElement): Promise<void> {
  const loaded = await import('./verify.ts').catch(() => undefined)
  if (loaded) return loaded.verify(address, told)
  told.classList.add('fault')
  told.textContent = 'The check could not be loaded.'
}

/** Without WebCrypto, as on plain HTTP, the buttons stay hidden. */
function ready(part: ParentNode): void {
  const told = document.getElementById('checked')
  if (!told || !crypto.subtle) return
  for (const button of part.querySelectorAll<HTMLButtonElement>('[data-verifies]')) {
    button.hidden = false
    button.addEventListener('click', () => verify(button.dataset.verifies ?? '', told))
  }
  for (const button of part.querySelectorAll<HTMLButtonElement>('[data-checks]')) {
    button.hidden = false
    // The list is renewed; the button is not, while it has the focus.
    button.addEventListener('click', () => {
      const shown = document.getElementById(button.dataset.checks ?? '')
      return check(shown?.dataset.chained ?? '', told)
    })
  }
}

// Tests import the part above without a page.
if (typeof document !== 'undefined') {
  ready(document)
  document.addEventListener('renewed', ({ target }) => target instanceof Element && ready(target))
}
