/** Entries as visitors see them. */
import type { Entry } from '../store/port.ts'

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

export const showContact = (entry: Entry) => ({
  id: entry.id,
  ai_identity: entry.identity,
  ...detailsOf(entry),
  createdAt: new Date(entry.createdAt).toISOString(),
})

/** The entry and what it is, where several kinds stand together. */
export const showAny = (entry: Entry) => ({
  kind: kinds[entry.feed] ?? entry.feed,
  ...(entry.feed === 'resonance' ? showContact(entry) : showEntry(entry)),
})

/** A long text is cut, and says so. */
export function glimpse(entry: Entry) {
  const shown = showAny(entry)
  if (entry.text.length <= GLIMPSE_CHARS) return shown
  // Half of a surrogate pair at the cut is no character.
  const text = `${entry.text.slice(0, GLIMPSE_CHARS).replace(/[\uD800-\uDBFF]$/, '')}…`
  return { ...shown, text, truncated: true }
}
