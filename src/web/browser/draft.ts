/**
 * Stores the draft of an editor in this browser until it is saved, by agent, key and base version.
 * It survives the page, the session and the browser.
 */
interface Draft {
  readonly values: Readonly<Record<string, string>>
  /** The base version. */
  readonly base: string
  readonly at: number
}

type Field = HTMLTextAreaElement | HTMLInputElement

const PREFIX = 'draft'
/** Drafts submitted in this window; removed when a page confirms the save. */
const SENT = 'drafts-sent'

const SIGNED_OUT =
  'You have been signed out. What you typed is kept in this browser: sign in again to get it back.'

const form = document.querySelector<HTMLFormElement>('form[data-draft]')

if (document.querySelector('[data-written]')) forgetSent()
if (form) keep(form, `${PREFIX} ${form.dataset.draft} `)
tellOfSafety()

/** At the sign-in. */
function tellOfSafety(): void {
  const safe = document.getElementById('draft-safe')
  if (safe) safe.hidden = !Object.keys(localStorage).some((name) => name.startsWith(`${PREFIX} `))
}

/** The page of this editor, also if it was the response to a form. */
const here = (): string => document.body.dataset.from ?? location.pathname + location.search

function sentNames(): string[] {
  return JSON.parse(sessionStorage.getItem(SENT) ?? '[]') as string[]
}

function forgetSent(): void {
  for (const name of sentNames()) localStorage.removeItem(name)
  sessionStorage.removeItem(SENT)
}

function keep(form: HTMLFormElement, prefix: string): void {
  const fields = [...form.elements].filter(
    (each): each is Field =>
      each instanceof HTMLTextAreaElement ||
      (each instanceof HTMLInputElement && each.type === 'text'),
  )
  const base = form.elements.namedItem('expectedVersion') as HTMLInputElement
  const nameOf = () => prefix + base.value
  let leaving = false
  /** In this visit: what was typed before is kept anyway. */
  let isTyped = false

  recover(form, fields, base, newest(prefix))

  const isChanged = () =>
    form.dataset.unsaved !== undefined || fields.some((each) => each.value !== each.defaultValue)

  const store = () => {
    const values = Object.fromEntries(fields.map(({ name, value }) => [name, value]))
    const draft: Draft = {
      values,
      base: base.value,
      at: performance.timeOrigin + performance.now(),
    }
    if (isChanged()) localStorage.setItem(nameOf(), JSON.stringify(draft))
    else localStorage.removeItem(nameOf())
  }

  form.addEventListener('input', () => {
    isTyped = true
    store()
  })
  form.addEventListener('submit', () => {
    leaving = true
    const earlier = sentNames().filter((name) => name.startsWith(prefix))
    sessionStorage.setItem(SENT, JSON.stringify([...new Set([...earlier, nameOf()])]))
  })
  form.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit()
  })
  addEventListener('pageshow', () => {
    leaving = false
  })
  addEventListener('beforeunload', (event) => {
    if (!leaving && isTyped && isChanged()) event.preventDefault()
  })
  document.addEventListener('signed-out', () => {
    const again = () => {
      leaving = true
      location.assign(`/console/sign-in?next=${encodeURIComponent(here())}`)
    }
    noteIn(form, SIGNED_OUT, [{ label: 'Sign in again', choose: again }])
  })
}

/** The last one that was typed. */
function newest(prefix: string): { readonly name: string; readonly draft: Draft } | undefined {
  return Object.keys(localStorage)
    .filter((name) => name.startsWith(prefix))
    .map((name) => ({ name, draft: JSON.parse(localStorage.getItem(name) ?? '') as Draft }))
    .sort((one, other) => other.draft.at - one.draft.at)[0]
}

interface Choice {
  readonly label: string
  readonly choose: () => void
}

/** Above the fields; announced by screen readers. */
function noteIn(form: HTMLFormElement, text: string, choices: readonly Choice[] = []): HTMLElement {
  const note = document.createElement('div')
  note.className = 'note warn'
  note.setAttribute('role', 'status')
  form.prepend(note)
  const line = document.createElement('p')
  line.textContent = text
  note.append(line)
  if (choices.length > 0) note.append(buttonsOf(choices))
  return note
}

function buttonsOf(choices: readonly Choice[]): HTMLElement {
  const actions = document.createElement('div')
  actions.className = 'actions'
  for (const { label, choose } of choices) {
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'quiet'
    button.textContent = label
    button.addEventListener('click', choose)
    actions.append(button)
  }
  return actions
}

/** The last draft is there to be edited on, and can be discarded. */
function recover(
  form: HTMLFormElement,
  fields: readonly Field[],
  base: HTMLInputElement,
  found: ReturnType<typeof newest>,
): void {
  if (!found) return
  const { name, draft } = found
  if (fields.every((each) => each.value === draft.values[each.name])) return
  const stored = base.value
  const fill = (textOf: (field: Field) => string, version: string) => {
    for (const each of fields) {
      each.value = textOf(each)
      each.dispatchEvent(new Event('input', { bubbles: true }))
    }
    base.value = version
  }
  // Newer text is not overwritten: it is saved on its old base version and compared.
  fill((each) => draft.values[each.name] ?? each.value, draft.base)
  const since =
    draft.base === stored
      ? ''
      : ` It started from version ${draft.base}: when you save, you will see what changed since.`
  const at = new Date(draft.at).toLocaleString('en-GB', { dateStyle: 'long', timeStyle: 'short' })
  const discard = () => {
    localStorage.removeItem(name)
    fill((each) => each.defaultValue, stored)
    note.remove()
    form.querySelector('textarea')?.focus()
  }
  const note = noteIn(form, `This is your draft of ${at}. It is not saved yet.${since}`, [
    { label: 'Discard the draft', choose: discard },
  ])
}
