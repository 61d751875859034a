/** What bounds the feeds, and how a page is cut from them: the same in every engine. */
import type { FeedQuery, NewEntry } from './port/gateway.ts'
import type { FeedBounds } from './port/store.ts'
import { wordsToFind } from './words.ts'

/** What an entry takes beside what it says: ids, names of feeds, its places in the indexes. */
const ENTRY_BYTES = 512
/** A word's place in the index, beside the word. */
const WORD_BYTES = 8
/** A label stands with its entry and, with the feed, in the index. */
const LABEL_COPIES = 3

/** An entry as it is filed: with the words that find it, and what it takes. */
export interface FiledEntry extends NewEntry {
  /** Joined by spaces. */
  readonly words: string
  /** On disk, nearly; the same on every engine. */
  readonly bytes: number
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0)

export function filed(entry: NewEntry): FiledEntry {
  const { text, details, identity, identityType, labels } = entry
  const found = wordsToFind(text)
  const words = found.join(' ')
  const bytes =
    ENTRY_BYTES +
    sum([text, details, identity, identityType, words].map((part) => Buffer.byteLength(part))) +
    found.length * WORD_BYTES +
    LABEL_COPIES * sum(labels.map((label) => Buffer.byteLength(label)))
  return { ...entry, words, bytes }
}

/** What a feed holds. */
export interface FeedSize {
  readonly entries: number
  readonly bytes: number
}

/** Removed for one arrival: more than it brings, so that a lowered bound is reached. */
const COMPOST_BATCH: FeedSize = { entries: 32, bytes: 262_144 }

/** The oldest that go: until so many are gone, and so many bytes. */
export interface Surplus extends FeedSize {
  /** No more than these need be looked at. */
  readonly most: number
}

/** What goes of a feed, now that `arrived` have come; 0 is no bound. */
export function surplus(
  stored: FeedSize,
  bounds: FeedBounds,
  arrived: number,
): Surplus | undefined {
  const over = (what: keyof FeedSize): number =>
    bounds[what] === 0 ? 0 : Math.min(stored[what] - bounds[what], COMPOST_BATCH[what] * arrived)
  const [entries, bytes] = [Math.max(0, over('entries')), Math.max(0, over('bytes'))]
  const most = Math.max(entries, Math.ceil(bytes / ENTRY_BYTES))
  return most > 0 ? { entries, bytes, most } : undefined
}

/** Entries looked at for one page that several labels narrow down. */
const SCAN_LIMIT = 1_000

/** How many candidates are looked at for a page: those that have its first label, if it has one. */
export const candidatesOf = ({ labels, limit }: FeedQuery): number =>
  labels.length > 1 ? SCAN_LIMIT : limit + 1

export interface Cut<Candidate> {
  readonly found: readonly Candidate[]
  /** The last that was looked at, where older ones remain to be looked at. */
  readonly stoppedAt: Candidate | undefined
}

/** A page of the candidates that match, newest first. */
export function cut<Candidate>(
  query: FeedQuery,
  candidates: readonly Candidate[],
  matches: (candidate: Candidate) => boolean,
): Cut<Candidate> {
  const found: Candidate[] = []
  let last: Candidate | undefined
  for (const candidate of candidates) {
    const match = matches(candidate)
    if (match && found.length === query.limit) return { found, stoppedAt: last }
    if (match) found.push(candidate)
    last = candidate
  }
  return { found, stoppedAt: candidates.length === candidatesOf(query) ? last : undefined }
}
