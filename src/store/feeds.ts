/** Retention and paging of the feeds, the same for every engine. */
import type { FeedQuery, NewEntry } from './port/gateway.ts'
import type { FeedBounds } from './port/store.ts'
import { wordsToFind } from './words.ts'

/** Bytes of an entry besides its text: ids, feed names, index rows. */
const ENTRY_BYTES = 512
/** Bytes of a word's row in the index, besides the word. */
const WORD_BYTES = 8
/** A label is stored with its entry and in the index, there with the feed. */
const LABEL_COPIES = 3

/** An entry ready to be stored: with its index words and its size. */
export interface FiledEntry extends NewEntry {
  /** Separated by spaces. */
  readonly words: string
  /** An estimate of the bytes on disk, the same on every engine. */
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

/** The size of a feed. */
export interface FeedSize {
  readonly entries: number
  readonly bytes: number
}

/** Removed per arrival: more than one, so that a lowered limit is reached. */
const COMPOST_BATCH: FeedSize = { entries: 32, bytes: 262_144 }

/** How many of the oldest entries to remove, by number and by bytes. */
interface Surplus extends FeedSize {
  /** Upper bound of the rows to look at. */
  readonly most: number
}

/** What to remove from a feed after `arrived` entries; 0 means no limit. */
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

/** Entries read for one page if several labels filter it. */
const SCAN_LIMIT = 1_000

/** How many candidates to read for a page: entries with its first label, if it has one. */
export const candidatesOf = ({ labels, limit }: FeedQuery): number =>
  labels.length > 1 ? SCAN_LIMIT : limit + 1

interface Cut<Candidate> {
  readonly found: readonly Candidate[]
  /** The last candidate that was read, if older ones remain. */
  readonly stoppedAt: Candidate | undefined
}

/** The matching candidates as a page, newest first. */
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
