/** The occurrences of terms in an index, of which a query collects a bounded number. */
import type { Doc, Visit } from './home-index.ts'

const PLACES_PER_TERM = 50_000

/** Positions collected for all terms; if there are more, each term gets a share. */
const MOST_GATHERED = 1_000_000

/** The occurrences of a term. */
export interface Hits {
  /** The number of memories that contain it. */
  memories: number
  /** The last of them. */
  last: Doc | undefined
  /** All of them, if the term is a word of the query. */
  readonly ids: number[] | undefined
  /**
   * For each occurrence the memory and the first position; empty for a term that is too frequent.
   */
  docs: Doc[]
  places: number[]
}

export const noHits = (isWord = false): Hits => ({
  ...{ memories: 0, last: undefined, ids: isWord ? [] : undefined, docs: [], places: [] },
})
export const NO_HITS = noHits()

/** Collects occurrences. `most`: terms in more memories are skipped. */
export function collecting(all: readonly Hits[], most: number): Visit {
  let gathered = 0
  let perTerm = PLACES_PER_TERM

  function cut({ docs, places }: Hits, length: number): void {
    if (places.length <= length) return
    gathered -= places.length - length
    docs.length = length
    places.length = length
  }

  return (term, doc, place) => {
    const hits = all[term]
    if (!hits) return
    if (hits.last !== doc) {
      hits.last = doc
      hits.ids?.push(doc.id)
      if (++hits.memories === most + 1) cut(hits, 0)
    }
    if (hits.memories > most || hits.places.length >= perTerm) return
    hits.docs.push(doc)
    hits.places.push(place)
    if (++gathered <= MOST_GATHERED) return
    perTerm = Math.floor(perTerm / 2)
    for (const each of all) cut(each, perTerm)
  }
}
