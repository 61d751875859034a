/** What finds a memory again whose key is not known. */
import type { Identity, Refused } from '../home.ts'
import type { MemorySummary } from './memories.ts'

/** Where a search goes on: how many were shown, and the last of them. */
export interface SearchCursor {
  readonly shown: number
  readonly last: string
}

export interface SearchQuery {
  /** What is in quotes must stand in a memory; of the rest any word will do. */
  readonly q: string
  /** Instead: every word must be there, whole or as a part of another. */
  readonly all?: boolean | undefined
  /** Only keys that start with it. */
  readonly prefix: string
  /** Only those whose metadata has `pinned: true`. */
  readonly pinned?: boolean
  /** `next` of the page before; undefined for the first. */
  readonly after?: SearchCursor | undefined
  readonly limit: number
}

export interface SearchHit extends Omit<MemorySummary, 'change'> {
  /** Words of the memory that answer words of `q`, folded: lower case, without accents. */
  readonly matched: readonly string[]
  /** Of a short memory: all of it. `text` or `snippet` is there, never both. */
  readonly text?: string
  /** Around the best match: at most 200 code points, no character of it cut in half. */
  readonly snippet?: string
}

export type SearchAnswer =
  | {
      readonly outcome: 'hits'
      /** Best first. */
      readonly hits: readonly SearchHit[]
      /** Undefined at the end. */
      readonly next: SearchCursor | undefined
      /** UTF-8 bytes of texts and metadata that were read for it. */
      readonly looked: number
    }
  | Refused

export interface SearchStore {
  /**
   * Ranks the memories as they are when it is asked. Between two pages they may change: what is
   * rewritten then may be shown twice, or not. Throws StoreUnavailable. Whoever asks sees to it that
   * few run at once.
   */
  searchMemories(identity: Identity, query: SearchQuery): Promise<SearchAnswer>
}
