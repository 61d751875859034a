/** Export and import: memories and their history as one stream. */

import type { HomeEvent, Link } from './events.ts'
import type { Author, Identity, Profile, Refused } from './identity.ts'
import type { Mark, Memory, Operation } from './memories.ts'

/** A version as exported and imported. The marks: of the current version in an import. */
export interface KeptVersion extends Readonly<Partial<Record<Mark, boolean | undefined>>> {
  /** Of the memory. */
  readonly key: string
  /** The key that the version was made under, if a rename has changed it since. */
  readonly madeAs?: string | undefined
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
  /**
   * In an export, of the version's commitment, in hex; undefined if no event committed to it. An
   * import commits anew.
   */
  readonly salt?: string | undefined
}

export interface ExportedEvents {
  /** What the first of them follows. */
  readonly previous: Link
  /** Oldest first. */
  readonly pages: AsyncIterable<readonly HomeEvent[]>
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
      /**
       * With a whole home's history: the retained events. Read them after the history.
       */
      readonly events?: ExportedEvents | undefined
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
  /** Of a rollback: how many of `imported` were deleted. */
  readonly deleted?: number
}

/** The most conflicts that are listed. */
export const MOST_CONFLICTS = 100

export type ImportAnswer =
  | ({ readonly outcome: 'imported' } & Imported)
  /** Some keys already have memories. Nothing was changed. */
  | { readonly outcome: 'conflict'; readonly conflicts: readonly string[] }
  | { readonly outcome: 'over_quota' }
  | Refused

export interface RollbackOrder {
  /** Everything becomes as it was right after this event; 0: before the first. */
  readonly to: number
  /** Only memories that had keys with this prefix. */
  readonly prefix: string
  /** Only memories that this author has changed since: see `EventsQuery`. */
  readonly by?: string | undefined
  /** Only memories that this run has changed since: by this author, if both are given. */
  readonly run?: string | undefined
  /** Report the result without changing anything. */
  readonly dryRun: boolean
}

/** What a rollback does to one key. */
export interface TakenBack {
  readonly key: string
  /** The version that it gets again, and the key of that version now; undefined: it is deleted. */
  readonly was: { readonly key: string; readonly version: number } | undefined
}

export type RollbackAnswer =
  | {
      readonly outcome: 'rolled_back'
      readonly restored: number
      readonly deleted: number
      /** Memories that have changed since and are as they were. */
      readonly unchanged: number
      /** Memories whose version of then was erased or pruned: they stay as they are. */
      readonly skipped: readonly string[]
      /** What was restored or deleted, by key. */
      readonly changes: readonly TakenBack[]
    }
  /** The home has no event with this id yet. */
  | { readonly outcome: 'no_event' }
  /** Some of the events since then are no longer retained. */
  | { readonly outcome: 'event_gone'; readonly first: number }
  | { readonly outcome: 'over_quota' }
  | Refused

export interface TransferStore {
  /** Memories whose keys start with the prefix; all if omitted. */
  exportMemories(identity: Identity, prefix?: string, history?: boolean): Promise<ExportAnswer>
  /** An export whose snapshot has another count contains an erased text and must end. */
  countErasures(identity: Identity): Promise<ErasuresAnswer>
  /**
   * All or nothing. A key that is new to the home gets its versions as they were; for any other
   * key, the text becomes the next version, and deletions in the source are ignored. Each version
   * has an event, between `begin_import` and `end_import`. What does not fit one batch is seen by
   * readers while it goes on, and is taken back if it cannot be finished: `undo_import`. The source
   * is read twice; its errors are passed on. Throws StoreUnavailable, also if another process
   * imports or rolls back.
   */
  importMemories(
    identity: Identity,
    source: ImportSource,
    order: ImportOrder,
    now: number,
  ): Promise<ImportAnswer>
  /**
   * All or nothing, as new versions under the keys of then; a protected memory stays protected. Its
   * changes are between `rollback` and `end_rollback`; one that has begun is finished, if need be by
   * another process. What others write after it has begun stays.
   */
  rollBack(identity: Identity, order: RollbackOrder, now: number): Promise<RollbackAnswer>
}
