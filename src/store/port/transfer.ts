/** What an agent leaves with, and comes back with: its memories and their history as one stream. */
import type { Author, Identity, Profile, Refused } from './home.ts'
import type { Memory, Operation } from './keeping/memories.ts'

/** A version as it is exported, and imported again. */
export interface KeptVersion {
  readonly key: string
  /** Of the memory that it is a version of. */
  readonly id: string
  readonly version: number
  readonly operation: Operation
  /** Undefined where it was written before authors were kept. */
  readonly by: Author | undefined
  /** Of the memory. */
  readonly createdAt: number
  /** Of the version. */
  readonly updatedAt: number
  /** Undefined of a delete, and in an export of the current version: the memory beside it says it. */
  readonly content: Pick<Memory, 'text' | 'metadata'> | undefined
}

export type ExportAnswer =
  | {
      readonly outcome: 'export'
      readonly profile: Profile
      readonly memoryCount: number
      /** As of the snapshot, see `countErasures`. */
      readonly erasures: number
      /** Ordered by key, from the one snapshot that also gave profile and count. */
      readonly memories: AsyncIterable<readonly Memory[]>
      /**
       * Where it was asked for: every version that is kept, also of what was deleted, ordered by key
       * and version. To be read after the memories.
       */
      readonly history?: AsyncIterable<readonly KeptVersion[]> | undefined
      /** Lets the snapshot go, read to its end or not. May be called again. */
      readonly close: () => void
    }
  | Refused

export type ErasuresAnswer =
  | {
      readonly outcome: 'erasures'
      /** Rises with each erasure that took a text of the home. */
      readonly erasures: number
      /** The newest event of the home. */
      readonly lastEvent: number
    }
  | Refused

/** What is done with a memory whose key has one already. */
export type OnConflict = 'fail' | 'skip' | 'replace'

export interface ImportOrder {
  readonly onConflict: OnConflict
  /** Tells what would be, and changes nothing. */
  readonly dryRun: boolean
}

/** Ordered by key and version, without doubles; the last of a key is what is to be under it. */
export type ImportSource = AsyncIterable<readonly KeptVersion[]>

export interface Imported {
  /** Keys that are as in the source now, those of what was deleted included. */
  readonly imported: number
  /** Keys that were left as they are. */
  readonly skipped: number
  /** Of memories that were there, the first of them by key. */
  readonly conflicts: readonly string[]
  /**
   * Earlier versions in the source of keys that were imported, which had a number here, or one too
   * high to keep: of those the text alone came. Undefined where there were none.
   */
  readonly historyLeftOut?: number
}

/** Keys that are named. */
export const MOST_CONFLICTS = 100

export type ImportAnswer =
  | ({ readonly outcome: 'imported' } & Imported)
  /** Memories were there, and none may be. Nothing was changed, here and below. */
  | { readonly outcome: 'conflict'; readonly conflicts: readonly string[] }
  | { readonly outcome: 'over_quota' }
  | Refused

export interface TransferStore {
  /** Of memories whose keys start with the prefix; of all where it is left out. */
  exportMemories(identity: Identity, prefix?: string, history?: boolean): Promise<ExportAnswer>
  /** An export whose snapshot has another count holds a text that was erased since: it must end. */
  countErasures(identity: Identity): Promise<ErasuresAnswer>
  /**
   * All of it in one step, or nothing. Under a key that never had anything the versions are as they
   * were; under another the text gets the number after all that was there, and what was deleted in
   * the source is left out. The source may be read more than once; what it throws is thrown.
   */
  importMemories(
    identity: Identity,
    source: ImportSource,
    order: ImportOrder,
    now: number,
  ): Promise<ImportAnswer>
}
