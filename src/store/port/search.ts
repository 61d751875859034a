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
  /**
   * Phrases in quotes must occur in a memory; of the other words any may. A long one is cut to its
   * rarest words, and its quotes have no meaning.
   */
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
  /** So many memories right before and right after each hit come with it; 0 by default. */
  readonly around?: number | undefined
  /** `next` of the previous page; undefined for the first page. */
  readonly after?: SearchCursor | undefined
  readonly limit: number
}

/** The text of a memory, or what is shown of it. Either `text` or `snippet` is present. */
interface Shown {
  /** The whole text of a short memory. */
  readonly text?: string
  /** An excerpt around the best match: at most 200 code points, whole characters only. */
  readonly snippet?: string
}

/** A memory right before or after a hit; its snippet is the start of its text. */
export interface Neighbour extends Shown, Pick<MemorySummary, 'key' | 'version' | 'updatedAt'> {}

export interface SearchHit extends Shown, Omit<MemorySummary, 'change' | keyof Shown> {
  /** Words of the memory that match words of `q`, in lower case. */
  readonly matched: readonly string[]
  /** The cosine of the angle between its vector and the asked one, if it has one of that model. */
  readonly similarity?: number
  /** With `around`: what stands right before and right after it, in order, within the prefix. */
  readonly before?: readonly Neighbour[]
  readonly after?: readonly Neighbour[]
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
      /**
       * Words of `q`, as they are written but in lower case, that no memory has in any form. Of a
       * cut one, those among the words it was cut to. Never stop words.
       */
      readonly missing: readonly string[]
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
