/** Says when the memory that is being edited here is written elsewhere. */
interface Told {
  readonly type: string
  readonly key?: string
  readonly version?: number
  readonly by?: { readonly as: string } | null
}

const place = document.getElementById('later')

if (place) document.addEventListener('home', (event) => tell(place, event))

const done: Readonly<Record<string, string>> = { delete: 'deleted it', erase: 'erased it' }

function tell(note: HTMLElement, event: Event): void {
  const { type, key, version = 0, by } = (event as CustomEvent<Told>).detail
  const { key: edited, version: based } = note.dataset
  if (key !== edited || version <= Number(based)) return
  const who = by?.as === 'operator' ? 'An operator' : 'The agent'
  const what = done[type] ?? `wrote version ${version} of it`
  const text = document.createElement('p')
  text.textContent = `${who} ${what} in the meantime. Nothing of yours is lost: when you save, you see both and choose.`
  note.hidden = false
  note.replaceChildren(text)
}
