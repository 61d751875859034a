/** What finds a memory again whose key is not known. */
import type { Identity, Refused } from '../home.ts'
import type { MemorySummary } from './memories.ts'

/** Where a search goes on. */
export interface SearchCursor {
  /** The key up to which looks before have looked; empty in the first. */
  readonly looked: string
  /** The last key of the look of which some are shown; empty for a new look. */
  readonly until: string
  /** How many of the look's matches were shown, and the last of them; empty before the first. */
  readonly shown: number
  readonly last: string
}

export interface SearchQuery {
  /** Of which every word must be in a memory's key, text or metadata, whole or as a part. */
  readonly q: string
  /** Only keys that start with it. */
  readonly prefix: string
  /** Only those whose metadata has `pinned: true`. */
  readonly pinned?: boolean
  /** `next` of the page before; undefined for the first. */
  readonly after?: SearchCursor | undefined
  readonly limit: number
}

export interface SearchHit extends Omit<MemorySummary, 'change'> {
  /** Around the best match: at most 200 code points, no character of it cut in half. */
  readonly snippet: string
}

export type SearchAnswer =
  | {
      readonly outcome: 'hits'
      /** Best first. Fewer than the limit, or none, do not mean that there are no more. */
      readonly hits: readonly SearchHit[]
      /** Undefined at the end. */
      readonly next: SearchCursor | undefined
    }
  | Refused

export interface SearchStore {
  /**
   * Looks at a bounded part of the memories, ordered by key, and ranks what it finds there; `next`
   * looks on. What changes meanwhile may be found as it was or as it is. Throws StoreUnavailable
   * when it takes too long. Whoever asks sees to it that few run at once.
   */
  searchMemories(identity: Identity, query: SearchQuery): Promise<SearchAnswer>
}
