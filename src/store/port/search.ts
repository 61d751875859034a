/** Full-text search. */
import type { Identity, Refused } from './identity.ts'
import type { MemorySummary } from './memories.ts'

/** A position in the results: how many were shown, and the last of them. */
export interface SearchCursor {
  readonly shown: number
  readonly last: string
}

/** What is asked for, as a client's model sees it. */
export interface Meant {
  readonly model: string
  /** Of length 1. */
  readonly vector: Float32Array
}

export interface SearchQuery {
  /** Both rankings are fused; with a vector, `q` may be empty. */
  readonly meant?: Meant | undefined
  /** Phrases in quotes must occur in a memory; of the other words any may. */
  readonly q: string
  /** All memories in this order, in the place of a ranking: the largest first, or the oldest. */
  readonly order?: 'size' | 'oldest' | undefined
  /** If nothing is found, the answer has `near`. */
  readonly suggest?: boolean
  /** Every word must occur, as a word or part of one. */
  readonly all?: boolean | undefined
  /** Only keys with this prefix. */
  readonly prefix: string
  /** Only those whose metadata has `pinned: true`. */
  readonly pinned?: boolean
  /** `next` of the previous page; undefined for the first page. */
  readonly after?: SearchCursor | undefined
  readonly limit: number
}

export interface SearchHit extends Omit<MemorySummary, 'change'> {
  /** Words of the memory that match words of `q`, in lower case. */
  readonly matched: readonly string[]
  /** The cosine of the angle between its vector and the asked one, if it has one of that model. */
  readonly similarity?: number
  /** The whole text of a short memory. Either `text` or `snippet` is present. */
  readonly text?: string
  /** An excerpt around the best match: at most 200 code points, whole characters only. */
  readonly snippet?: string
}

export type SearchAnswer =
  | {
      readonly outcome: 'hits'
      /** Best match first. */
      readonly hits: readonly SearchHit[]
      /** Undefined at the end. */
      readonly next: SearchCursor | undefined
      /** UTF-8 bytes that were read to build the index. */
      readonly looked: number
      /** Words of the home that are spelled most like those of `q`. */
      readonly near?: readonly string[]
    }
  /** The model's vectors have so many numbers. */
  | { readonly outcome: 'other_length'; readonly numbers: number }
  | Refused

export interface SearchStore {
  /**
   * Ranks the memories as of now. If they change between two pages, one may be shown twice or not
   * at all. Throws StoreUnavailable. The caller limits concurrency.
   */
  searchMemories(identity: Identity, query: SearchQuery): Promise<SearchAnswer>
}
