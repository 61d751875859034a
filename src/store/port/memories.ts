/**
 * What an agent keeps: named texts under compare-and-swap, their versions and their history.
 *
 * The versions of a key increase by one and never decrease: a deletion is a version too, and a
 * memory created under the key again gets the next one. A rename creates a version of the new key
 * that is higher than any version of either key.
 */
import type { Author, Identity, Refused } from './identity.ts'

/**
 * What the operator says of a memory beside its text. A mark stays through changes and renames, until
 * the memory is deleted. `protected`: only the operator changes it.
 */
export const MARKS = ['protected'] as const

export type Mark = (typeof MARKS)[number]

export type Marks = Readonly<Record<Mark, boolean>>

/** Those that are set. */
export type SetMarks = Readonly<Partial<Record<Mark, true>>>

/** The marks are present if it was read as the current version. */
export interface Memory extends SetMarks {
  /** Stays the same for the life of the memory, also through renames. */
  readonly id: string
  readonly key: string
  readonly text: string
  /**
   * A JSON object, character for character as it was sent, without the whitespace around its
   * tokens.
   */
  readonly metadata: string
  readonly version: number
  readonly createdAt: number
  readonly updatedAt: number
}

export interface MemoryWrite {
  /** The memory's id if this write creates it. */
  readonly id: string
  readonly key: string
  readonly text: string
  readonly metadata: string
  /** 0 creates a memory; its current version updates it. */
  readonly expectedVersion: number
}

/** Operations on a memory; each creates a version. */
export const OPERATIONS = [
  'write',
  'patch',
  'append',
  'edit',
  'delete',
  'restore',
  'rename',
  'import',
] as const

export type Operation = (typeof OPERATIONS)[number]

export type Change =
  | ({ readonly verb: 'write' } & MemoryWrite)
  | {
      /** Omitted members stay as they are. */
      readonly verb: 'patch'
      readonly key: string
      readonly text?: string | undefined
      readonly metadata?: string | undefined
      readonly expectedVersion: number
    }
  | {
      /** Creates the memory if there is none. */
      readonly verb: 'append'
      readonly id: string
      readonly key: string
      readonly text: string
      /** Puts a line end between it and what is there, unless there is one. */
      readonly line?: boolean | undefined
      /** UTF-8 bytes of the whole text. */
      readonly maxBytes: number
      /** Undefined: append to the current version, whatever it is. */
      readonly expectedVersion?: number | undefined
    }
  | {
      /** Replaces a passage that is in the text exactly once. */
      readonly verb: 'edit'
      readonly key: string
      readonly old: string
      readonly new: string
      /** UTF-8 bytes of the whole text. */
      readonly maxBytes: number
      /** Undefined: edit the current version, whatever it is. */
      readonly expectedVersion?: number | undefined
    }
  | { readonly verb: 'delete'; readonly key: string; readonly expectedVersion: number }
  | {
      /** With expectedVersion 0, a deleted memory is restored. */
      readonly verb: 'restore'
      readonly key: string
      readonly version: number
      readonly expectedVersion: number
    }
  | {
      readonly verb: 'rename'
      readonly from: string
      readonly to: string
      readonly expectedVersion: number
    }
  | { readonly verb: 'read'; readonly key: string }

/** The tombstone of a deleted or renamed memory. */
export interface Deleted {
  /** The version of the deletion. */
  readonly version: number
  readonly deletedAt: number
}

export interface Conflict {
  readonly outcome: 'conflict'
  /** 0 if there is no memory. */
  readonly currentVersion: number
  readonly updatedAt: number | undefined
  /** The stored text equals the one sent, and the metadata is the same JSON value. */
  readonly sameContent: boolean
  /** Of equal texts, while only `comparing` can tell: that of the memory, and that of the write. */
  readonly metadata?: readonly [stored: string, sent: string]
  /** If the memory was deleted. */
  readonly deleted?: Deleted | undefined
}

/** The result of a change. */
export type Result =
  | { readonly outcome: 'saved'; readonly memory: Memory }
  | { readonly outcome: 'deleted'; readonly key: string; readonly deleted: Deleted }
  | { readonly outcome: 'found'; readonly memory: Memory }
  /** Only of a read. */
  | { readonly outcome: 'missing'; readonly deleted?: Deleted | undefined }

/** Of a home: how many memories, and bytes of their texts and metadata. */
export const QUOTAS = ['memories', 'bytes'] as const

export type Quota = (typeof QUOTAS)[number]

/** Why a change cannot be made. */
export type ChangeError =
  | Conflict
  /** There is no memory to edit, delete or rename. */
  | { readonly outcome: 'missing'; readonly deleted?: Deleted | undefined }
  /** Only the operator changes it. */
  | { readonly outcome: 'protected' }
  | { readonly outcome: 'over_quota'; readonly quota: Quota }
  /** The text would be longer than `maxBytes`. `bytes`: of the current one. */
  | { readonly outcome: 'too_large'; readonly bytes: number; readonly maxBytes: number }
  /** An edit would leave no text. */
  | { readonly outcome: 'emptied' }
  /** The passage of an edit is in the text `occurrences` times, which is not once. */
  | {
      readonly outcome: 'not_once'
      readonly occurrences: number
      readonly currentVersion: number
      readonly updatedAt: number
    }
  /** The version was erased or pruned. */
  | { readonly outcome: 'gone' }
  /** There is no such version, or it has no text. */
  | { readonly outcome: 'no_version' }
  /** The new key has a memory, or retained versions of a deleted one. */
  | { readonly outcome: 'taken' }
  /** The change is possible, but the response would be too large. */
  | { readonly outcome: 'answer_too_large' }

export type ChangesAnswer =
  /** One per change, in order. */
  | { readonly outcome: 'changed'; readonly results: readonly Result[] }
  /** Nothing was changed. `at`: the index of the change. */
  | {
      readonly outcome: 'unchanged'
      readonly faults: readonly { readonly at: number; readonly fault: ChangeError }[]
    }
  | Refused

/** An append, as a repeated call names it. */
export interface Once {
  /** Of the Idempotency-Key and of who sent it, hex. */
  readonly keyHash: string
  /** Of what was sent, hex. */
  readonly fingerprint: string
}

/** For so long a repeated append is known, and for so many events of the home. */
export const KNOWN_MS = 86_400_000
export const KNOWN_EVENTS = 10_000

export type OnceAnswer =
  | ChangesAnswer
  /** It was made before: the memory as it was answered, without what its version holds. */
  | { readonly outcome: 'repeated'; readonly memory: Omit<Memory, 'text' | 'metadata'> }
  /** The key was sent with something else. */
  | { readonly outcome: 'key_reused' }

/** Limits of the results of a batch. */
export interface AnswerBound {
  /** Of texts and metadata, as JSON in UTF-8. */
  readonly maxBytes: number
  /** Saved memories are returned without text and metadata. */
  readonly minimal: boolean
}

export type ReadAnswer =
  | { readonly outcome: 'found'; readonly memory: Memory }
  | { readonly outcome: 'missing'; readonly deleted?: Deleted | undefined }
  | Refused

export type WriteAnswer =
  | { readonly outcome: 'saved'; readonly memory: Memory }
  | Conflict
  | { readonly outcome: 'protected' }
  | { readonly outcome: 'over_quota'; readonly quota: Quota }
  | Refused

export interface MemorySummary extends Omit<Memory, 'text'> {
  /** UTF-8 bytes of the text. */
  readonly bytes: number
  /** Orders memories by their last change; increases with each. */
  readonly change: number
  /** If whole memories were requested, or the memory is brief. */
  readonly text?: string | undefined
  /** The first line, if brief texts were requested and this one is longer. */
  readonly snippet?: string | undefined
}

/** UTF-8 bytes of a text that is listed in full where brief texts are requested. */
export const BRIEF_BYTES = 400

export interface MemoriesQuery {
  /** Only keys with this prefix. */
  readonly prefix: string
  /** `changed`: last changed first, in the order of the changes. */
  readonly order: 'key' | 'changed'
  /** `next` of the previous page; undefined for the first page. */
  readonly after?: string | undefined
  /**
   * Alternatively, the page that ends before it. `next` is then `before` for the page before that.
   */
  readonly before?: string | undefined
  readonly limit: number
  /** Only those whose metadata has `pinned: true`. */
  readonly pinned?: boolean
  /** With their texts. */
  readonly whole: boolean
  /** With texts of up to BRIEF_BYTES, and the first lines of others. */
  readonly brief?: boolean
  /** The page ends after the memory with which texts and metadata reach this size. */
  readonly maxBytes: number
}

export type MemoriesAnswer =
  | {
      readonly outcome: 'memories'
      readonly memories: readonly MemorySummary[]
      /** `after` for the next page; undefined at the end. */
      readonly next: string | undefined
      /** The sequence number of the home's last change: if it is the same, the list is the same. */
      readonly lastEvent: number
    }
  | Refused

export type VersionAnswer =
  | {
      readonly outcome: 'found'
      readonly memory: Memory
      /** 0 if the memory was deleted. */
      readonly currentVersion: number
      /** Of the version's commitment, in hex; undefined if no event committed to it. */
      readonly salt: string | undefined
    }
  /** The key was never used. */
  | { readonly outcome: 'missing' }
  | Extract<ChangeError, { outcome: 'gone' | 'no_version' }>
  | Refused

export interface VersionSummary {
  readonly version: number
  readonly operation: Operation
  /** UTF-8 bytes of the text; 0 of a deletion. */
  readonly bytes: number
  /** Undefined if written before authors were recorded. */
  readonly by: Author | undefined
  readonly createdAt: number
}

export type VersionsAnswer =
  | {
      readonly outcome: 'versions'
      /** Newest first. A deleted memory keeps its versions. */
      readonly versions: readonly VersionSummary[]
      /** `before` for the next page; undefined at the end. */
      readonly next: number | undefined
    }
  | { readonly outcome: 'missing' }
  | Refused

/** Of deleted memories. */
export interface DeletedQuery {
  readonly prefix: string
  /** `next` of the previous page. */
  readonly after?: string | undefined
  readonly limit: number
}

/** A deleted memory that can be restored. */
export interface DeletedMemory extends Deleted {
  readonly key: string
  /** Who deleted it. */
  readonly by: Author | undefined
  /** The newest version with a text. */
  readonly lastVersion: number
  /** UTF-8 bytes of that text. */
  readonly bytes: number
}

export type DeletedAnswer =
  /** By key. `next`: the cursor for the next page; undefined at the end. */
  | {
      readonly outcome: 'deleted'
      readonly memories: readonly DeletedMemory[]
      readonly next: string | undefined
    }
  | Refused

/** The memories whose keys begin with `prefix`, which ends with a dot. */
export interface Branch {
  readonly prefix: string
  readonly memories: number
}

export interface BranchesQuery {
  readonly prefix: string
  readonly limit: number
}

export type BranchesAnswer =
  /** By prefix. */
  { readonly outcome: 'branches'; readonly branches: readonly Branch[] } | Refused

/** All versions, all but the current one, or a list. */
export type Erasure = 'all' | 'history' | readonly number[]

export type EraseAnswer =
  /** The erased versions. */
  | { readonly outcome: 'erased'; readonly versions: readonly number[] }
  | { readonly outcome: 'missing' }
  /** The list names the current version: only `all` erases it. */
  | { readonly outcome: 'current' }
  | Refused

export type ProtectAnswer =
  /** As asked for; `version`: the current one. */
  | { readonly outcome: 'done'; readonly version: number }
  | { readonly outcome: 'missing'; readonly deleted?: Deleted | undefined }
  | Refused

export interface MemoryStore {
  readMemory(identity: Identity, key: string): Promise<ReadAnswer>
  /** Compare-and-swap. The most frequent write; the same as `changeMemories` with one write. */
  writeMemory(identity: Identity, write: MemoryWrite, now: number): Promise<WriteAnswer>
  /** All changes in order, each on the result of those before it, or none. */
  changeMemories(
    identity: Identity,
    changes: readonly Change[],
    now: number,
    bound?: AnswerBound,
  ): Promise<ChangesAnswer>
  /** The same as `changeMemories` with this append, unless it was made before. */
  appendOnce(
    identity: Identity,
    append: Extract<Change, { verb: 'append' }>,
    once: Once,
    now: number,
  ): Promise<OnceAnswer>
  listMemories(identity: Identity, query: MemoriesQuery): Promise<MemoriesAnswer>
  listDeleted(identity: Identity, query: DeletedQuery): Promise<DeletedAnswer>
  /** The keys below a prefix, by what they have up to the next dot. */
  listBranches(identity: Identity, query: BranchesQuery): Promise<BranchesAnswer>
  /** The memory at an earlier version. */
  readVersion(identity: Identity, key: string, version: number): Promise<VersionAnswer>
  /** `before`: only lower versions. */
  listVersions(
    identity: Identity,
    key: string,
    before: number | undefined,
    limit: number,
  ): Promise<VersionsAnswer>
  /**
   * Whether only the operator changes the memory. It stays so through changes and renames, until
   * the memory is deleted.
   */
  protectMemory(
    identity: Identity,
    key: string,
    isProtected: boolean,
    now: number,
  ): Promise<ProtectAnswer>
  /**
   * Permanent: when it returns, the texts are gone from the store's files. A memory that is erased
   * as a whole leaves a tombstone.
   */
  eraseMemory(identity: Identity, key: string, versions: Erasure, now: number): Promise<EraseAnswer>
}
