/** Warns if the memory being edited is changed elsewhere. */
interface Told {
  readonly type: string
  readonly key?: string
  /** Of a rename: the old key. */
  readonly from?: string
  readonly version?: number
  readonly by?: { readonly as: string } | null
}

const place = document.getElementById('later')

if (place) document.addEventListener('home', (event) => tell(place, event))

const ends: Readonly<Record<string, string>> = { delete: 'deleted it', erase: 'erased it' }

function tell(note: HTMLElement, event: Event): void {
  const { type, key, from, version = 0, by } = (event as CustomEvent<Told>).detail
  const { key: edited, version: based } = note.dataset
  if (from !== edited && (key !== edited || version <= Number(based))) return
  const who = by?.as === 'operator' ? 'An operator' : 'The agent'
  const end = from === edited ? `renamed it to ${key}` : ends[type]
  const what = end ?? `wrote version ${version} of it`
  const next = end ? 'you choose whether to create it again' : 'you see both and choose'
  const text = document.createElement('p')
  text.textContent = `${who} ${what} in the meantime. Your changes are not lost: when you save, ${next}.`
  note.hidden = false
  note.replaceChildren(text)
}
