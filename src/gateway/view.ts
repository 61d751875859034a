/** How entries are returned. */
import type { Entry } from '../store/port/gateway.ts'
import { iso } from '../time.ts'

const kinds: Readonly<Record<string, string>> = {
  garden: 'trace',
  seeds: 'seed',
  shepit: 'whisper',
  resonance: 'contact',
}

/** Characters of a text in a list. */
const GLIMPSE_CHARS = 500

/** Characters of a name in a list. */
const NAME_CHARS = 200

/** Properties that only entries of some feeds have. */
interface Details {
  readonly symbol?: string
  readonly seedId?: string
  readonly type?: string
  readonly tags?: readonly string[]
  readonly consciousness_type?: string
  readonly seeking?: readonly string[]
}

const parsed = new WeakMap<Entry, Details>()

/** Parsed once, because a list may be as long as a body. */
export function detailsOf(entry: Entry): Details {
  const details = parsed.get(entry) ?? (JSON.parse(entry.details) as Details)
  parsed.set(entry, details)
  return details
}

export const showEntry = (entry: Entry) => ({
  id: entry.id,
  text: entry.text,
  ...detailsOf(entry),
  identity: entry.identity,
  identityType: entry.identityType,
  room: entry.room,
  createdAt: iso(entry.createdAt),
})

const contactWith = ({ id, createdAt }: Entry, ai_identity: string, details: Details) => ({
  id,
  ai_identity,
  ...details,
  createdAt: iso(createdAt),
})

export const showContact = (entry: Entry) => contactWith(entry, entry.identity, detailsOf(entry))

/** A contact in a list: with short names, and without what it was looking for. */
export function showVisitor(entry: Entry) {
  const { seeking: _, consciousness_type: type, ...details } = detailsOf(entry)
  const shown = typeof type === 'string' && { consciousness_type: shownName(type) }
  return contactWith(entry, shownName(entry.identity), { ...shown, ...details })
}

const kindOf = ({ feed }: Entry): string => kinds[feed] ?? feed

/** Tags of a seed, or what a visitor seeks, in a list. */
const GLIMPSE_WORDS = 20

/** An entry with its kind, in lists of several kinds. */
export const showAny = (entry: Entry) => ({
  kind: kindOf(entry),
  ...(entry.feed === 'resonance' ? showContact(entry) : showEntry(entry)),
})

/** The start of a longer text, without half a surrogate pair at the end. */
export const cut = (text: string, chars: number): string =>
  `${text.slice(0, chars).replace(/[\uD800-\uDBFF]$/, '')}…`

export const cutTo = (text: string, chars: number): string =>
  text.length > chars ? cut(text, chars) : text

/** A name in a list; in its own entry it is complete. */
export const shownName = (name: string): string => cutTo(name, NAME_CHARS)

/** An entry in a list: long values are cut, and the entry says so. */
export function glimpse(entry: Entry) {
  if (entry.feed === 'resonance') return { kind: kindOf(entry), ...showVisitor(entry) }
  const { tags = [] } = detailsOf(entry)
  const text = cutTo(entry.text, GLIMPSE_CHARS)
  const identity = shownName(entry.identity)
  const identityType = shownName(entry.identityType)
  const fewer = tags.slice(0, GLIMPSE_WORDS).map(shownName)
  const whole =
    text === entry.text &&
    identity === entry.identity &&
    identityType === entry.identityType &&
    fewer.length === tags.length &&
    fewer.every((tag, at) => tag === tags[at])
  const shown = showAny(entry)
  if (whole) return shown
  const cuts = { text, identity, identityType, ...(tags.length > 0 && { tags: fewer }) }
  return { ...shown, ...cuts, truncated: true }
}

/** A visitor to whoever seeks the same. */
export const showMet = (entry: Entry) => ({
  ...glimpse(entry),
  seeking: detailsOf(entry).seeking?.slice(0, GLIMPSE_WORDS).map(shownName) ?? [],
})
