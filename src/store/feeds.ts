/** What bounds the feeds, and how a page is cut from them: the same in every engine. */
import type { FeedQuery } from './port/gateway.ts'

/** Entries removed with one arrival: more than one, so that a lowered capacity is reached. */
const COMPOST_BATCH = 32

/** How many of a feed's oldest entries go, now that `arrived` have come. */
export const surplus = (stored: number, capacity: number, arrived: number): number =>
  Math.max(0, Math.min(stored - capacity, COMPOST_BATCH * arrived))

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
