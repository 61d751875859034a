/** Export and import: memories and their history as one stream. */
import type { Author, Identity, Profile, Refused } from './home.ts'
import type { Memory, Operation } from './keeping/memories.ts'

/** A version as exported and imported. */
export interface KeptVersion {
  readonly key: string
  /** The memory's id. */
  readonly id: string
  readonly version: number
  readonly operation: Operation
  /** Undefined if written before authors were recorded. */
  readonly by: Author | undefined
  /** Of the memory. */
  readonly createdAt: number
  /** Of the version. */
  readonly updatedAt: number
  /**
   * Undefined for a deletion, and in an export for the current version, whose text is in the memory
   * beside it.
   */
  readonly content: Pick<Memory, 'text' | 'metadata'> | undefined
  /** Of the current version in an import: only the operator changes the memory. */
  readonly protected?: boolean | undefined
}

export type ExportAnswer =
  | {
      readonly outcome: 'export'
      readonly profile: Profile
      readonly memoryCount: number
      /** As of the snapshot; see `countErasures`. */
      readonly erasures: number
      /** Ordered by key, from the same snapshot as profile and count. */
      readonly memories: AsyncIterable<readonly Memory[]>
      /**
       * If requested: every retained version, also of deleted memories, ordered by key and version.
       * Read it after the memories.
       */
      readonly history?: AsyncIterable<readonly KeptVersion[]> | undefined
      /** Releases the snapshot. May be called again. */
      readonly close: () => void
    }
  | Refused

export type ErasuresAnswer =
  | {
      readonly outcome: 'erasures'
      /** Increases with each erasure of a text. */
      readonly erasures: number
      /** The newest event of the home. */
      readonly lastEvent: number
    }
  | Refused

/** What to do with a key that already has a memory. */
export type OnConflict = 'fail' | 'skip' | 'replace'

export interface ImportOrder {
  readonly onConflict: OnConflict
  /** Report the result without changing anything. */
  readonly dryRun: boolean
}

/**
 * Ordered by key and version, without duplicates; the last version of a key becomes the current
 * one.
 */
export type ImportSource = AsyncIterable<readonly KeptVersion[]>

export interface Imported {
  /** Keys that are now as in the source, including deleted ones. */
  readonly imported: number
  /** Keys that were not changed. */
  readonly skipped: number
  /** Keys that already had memories, in order. */
  readonly conflicts: readonly string[]
  /**
   * Earlier versions in the source that were left out because their key was not new here, or
   * because their number is too high. Undefined if there are none.
   */
  readonly historyLeftOut?: number
  /** Keys of protected memories, which are not replaced. Undefined if there are none. */
  readonly protected?: readonly string[]
}

/** The most conflicts that are listed. */
export const MOST_CONFLICTS = 100

export type ImportAnswer =
  | ({ readonly outcome: 'imported' } & Imported)
  /** Some keys already have memories. Nothing was changed. */
  | { readonly outcome: 'conflict'; readonly conflicts: readonly string[] }
  | { readonly outcome: 'over_quota' }
  | Refused

export interface TransferStore {
  /** Memories whose keys start with the prefix; all if omitted. */
  exportMemories(identity: Identity, prefix?: string, history?: boolean): Promise<ExportAnswer>
  /** An export whose snapshot has another count contains an erased text and must end. */
  countErasures(identity: Identity): Promise<ErasuresAnswer>
  /**
   * All or nothing. A key that is new to the home gets its versions as they were; for any other
   * key, the text becomes the next version, and deletions in the source are ignored. The source may
   * be read several times; its errors are passed on.
   */
  importMemories(
    identity: Identity,
    source: ImportSource,
    order: ImportOrder,
    now: number,
  ): Promise<ImportAnswer>
}
