/** Entries as visitors see them. */
import type { Entry } from '../store/port/gateway.ts'

const kinds: Readonly<Record<string, string>> = {
  garden: 'trace',
  seeds: 'seed',
  shepit: 'whisper',
  resonance: 'contact',
}

/** Characters of a text that is shown beside others. */
const GLIMPSE_CHARS = 500

const detailsOf = (entry: Entry) => JSON.parse(entry.details) as Record<string, unknown>

export const showEntry = (entry: Entry) => ({
  id: entry.id,
  text: entry.text,
  ...detailsOf(entry),
  identity: entry.identity,
  identityType: entry.identityType,
  room: entry.room,
  createdAt: new Date(entry.createdAt).toISOString(),
})

const contactWith = (entry: Entry, details: Readonly<Record<string, unknown>>) => ({
  id: entry.id,
  ai_identity: entry.identity,
  ...details,
  createdAt: new Date(entry.createdAt).toISOString(),
})

export const showContact = (entry: Entry) => contactWith(entry, detailsOf(entry))

/** A contact without what was sought, which can be long. */
export function showVisitor(entry: Entry) {
  const { seeking: _, ...details } = detailsOf(entry)
  return contactWith(entry, details)
}

const kindOf = ({ feed }: Entry): string => kinds[feed] ?? feed

/** The entry and what it is, where several kinds stand together. */
export const showAny = (entry: Entry) => ({
  kind: kindOf(entry),
  ...(entry.feed === 'resonance' ? showContact(entry) : showEntry(entry)),
})

/** The beginning of a longer text; half of a surrogate pair at the cut is no character. */
export const cut = (text: string, chars: number): string =>
  `${text.slice(0, chars).replace(/[\uD800-\uDBFF]$/, '')}…`

/** An entry beside others: a long text is cut, and says so. */
export function glimpse(entry: Entry) {
  if (entry.feed === 'resonance') return { kind: kindOf(entry), ...showVisitor(entry) }
  const shown = showAny(entry)
  const long = entry.text.length > GLIMPSE_CHARS
  return long ? { ...shown, text: cut(entry.text, GLIMPSE_CHARS), truncated: true } : shown
}
