/**
 * What an agent keeps: named texts under compare-and-swap, their earlier versions, and what
 * happened to them.
 *
 * Of each key the versions rise by one and never fall: a delete is a version too, and what is
 * created under the key again gets the next one. A rename is a version of the new name, above
 * everything that either name had.
 */
import type { Author, Identity, Refused } from '../home.ts'

export interface Memory {
  /** The same for as long as the memory lives, whatever it is called. */
  readonly id: string
  readonly key: string
  readonly text: string
  /** A JSON object, character for character as it was sent but for the space around its tokens. */
  readonly metadata: string
  readonly version: number
  readonly createdAt: number
  readonly updatedAt: number
}

export interface MemoryWrite {
  /** The id the memory gets if this write creates it. */
  readonly id: string
  readonly key: string
  readonly text: string
  readonly metadata: string
  /** 0 creates; the current version updates. */
  readonly expectedVersion: number
}

/** What can be done to a memory; each is a version of it. */
export const OPERATIONS = [
  'write',
  'patch',
  'append',
  'delete',
  'restore',
  'rename',
  'import',
] as const

export type Operation = (typeof OPERATIONS)[number]

export type Change =
  | ({ readonly verb: 'write' } & MemoryWrite)
  | {
      /** What is left out stays. */
      readonly verb: 'patch'
      readonly key: string
      readonly text?: string | undefined
      readonly metadata?: string | undefined
      readonly expectedVersion: number
    }
  | {
      /** Creates where nothing is. */
      readonly verb: 'append'
      readonly id: string
      readonly key: string
      readonly text: string
      /** UTF-8 bytes of the whole text. */
      readonly maxBytes: number
      /** Undefined: whatever is there. */
      readonly expectedVersion?: number | undefined
    }
  | { readonly verb: 'delete'; readonly key: string; readonly expectedVersion: number }
  | {
      /** With expectedVersion 0 what was deleted comes back. */
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

/** What lies under a key where a memory was deleted, or renamed away. */
export interface Deleted {
  /** The version that the delete is. */
  readonly version: number
  readonly deletedAt: number
}

export interface Conflict {
  readonly outcome: 'conflict'
  /** 0 when no memory is under the key. */
  readonly currentVersion: number
  readonly updatedAt: number | undefined
  /** The stored text equals the one sent, and the metadata have the same value. */
  readonly sameContent: boolean
  /** Where nothing is under the key any more. */
  readonly deleted?: Deleted | undefined
}

/** What became of a change. */
export type Result =
  | { readonly outcome: 'saved'; readonly memory: Memory }
  | { readonly outcome: 'deleted'; readonly key: string; readonly deleted: Deleted }
  | { readonly outcome: 'found'; readonly memory: Memory }
  /** To a read alone. */
  | { readonly outcome: 'missing'; readonly deleted?: Deleted | undefined }

/** Why a change cannot be made. */
export type ChangeError =
  | Conflict
  /** Nothing to delete, or to rename, is there. */
  | { readonly outcome: 'missing'; readonly deleted?: Deleted | undefined }
  /** Too many memories, or too many bytes of current ones. */
  | { readonly outcome: 'over_quota' }
  /** The text would be longer than `maxBytes`. */
  | { readonly outcome: 'too_large' }
  /** The version was erased, or given up for newer ones. */
  | { readonly outcome: 'gone' }
  /** No version of the memory has this number, or none with a text. */
  | { readonly outcome: 'no_version' }
  /** A memory, or what is kept of one that was deleted, is under the new name. */
  | { readonly outcome: 'taken' }
  /** It could be made, but its result has no room beside those before it. */
  | { readonly outcome: 'answer_too_large' }

export type ChangesAnswer =
  /** One for each change, in their order. */
  | { readonly outcome: 'changed'; readonly results: readonly Result[] }
  /** Nothing was changed. `at`: of the change, from 0. */
  | {
      readonly outcome: 'unchanged'
      readonly faults: readonly { readonly at: number; readonly fault: ChangeError }[]
    }
  | Refused

/** What the results of changes may hold together. */
export interface AnswerBound {
  /** Of texts and metadata, as JSON in UTF-8. */
  readonly maxBytes: number
  /** What is saved is answered without its text and metadata. */
  readonly minimal: boolean
}

export type ReadAnswer =
  | { readonly outcome: 'found'; readonly memory: Memory }
  | { readonly outcome: 'missing'; readonly deleted?: Deleted | undefined }
  | Refused

export type WriteAnswer =
  | { readonly outcome: 'saved'; readonly memory: Memory }
  | Conflict
  | { readonly outcome: 'over_quota' }
  | Refused

export interface MemorySummary extends Omit<Memory, 'text'> {
  /** UTF-8 bytes of the text. */
  readonly bytes: number
  /** Orders memories by their last change; rises with each. */
  readonly change: number
  /** Where whole memories were asked for. */
  readonly text?: string | undefined
}

export interface MemoriesQuery {
  /** Only keys that start with it. */
  readonly prefix: string
  /** `changed`: last changed first, by the order of the changes themselves. */
  readonly order: 'key' | 'changed'
  /** `next` of the page before; undefined for the first. */
  readonly after?: string | undefined
  /** Instead: the page that ends in front of it. `next` is then `before` of the page in front. */
  readonly before?: string | undefined
  readonly limit: number
  /** Only those whose metadata has `pinned: true`. */
  readonly pinned?: boolean
  /** With their texts. */
  readonly whole: boolean
  /** A page ends after the memory with which texts and metadata reach it in UTF-8. */
  readonly maxBytes: number
}

export type MemoriesAnswer =
  | {
      readonly outcome: 'memories'
      readonly memories: readonly MemorySummary[]
      /** `after` of the next page; undefined at the end. */
      readonly next: string | undefined
      /** Of everything that happened in this home: the same number, the same list. */
      readonly lastEvent: number
    }
  | Refused

export type VersionAnswer =
  | { readonly outcome: 'found'; readonly memory: Memory }
  /** Nothing was ever under the key. */
  | { readonly outcome: 'missing' }
  | Extract<ChangeError, { outcome: 'gone' | 'no_version' }>
  | Refused

export interface VersionSummary {
  readonly version: number
  readonly operation: Operation
  /** UTF-8 bytes of the text; 0 of a delete. */
  readonly bytes: number
  /** Undefined where it was written before authors were kept. */
  readonly by: Author | undefined
  readonly createdAt: number
}

export type VersionsAnswer =
  | {
      readonly outcome: 'versions'
      /** Newest first. What was deleted keeps its versions. */
      readonly versions: readonly VersionSummary[]
      /** `before` of the next page; undefined at the end. */
      readonly next: number | undefined
    }
  | { readonly outcome: 'missing' }
  | Refused

/** Which versions: every one, every one but the current, or these. */
export type Erasure = 'all' | 'history' | readonly number[]

export type EraseAnswer =
  /** Those that are gone. */
  | { readonly outcome: 'erased'; readonly versions: readonly number[] }
  | { readonly outcome: 'missing' }
  /** The current version is in the list: only `all` erases it. */
  | { readonly outcome: 'current' }
  | Refused

export interface MemoryStore {
  readMemory(identity: Identity, key: string): Promise<ReadAnswer>
  /** Compare-and-swap: the one that is called most, and does what `changeMemories` does with it. */
  writeMemory(identity: Identity, write: MemoryWrite, now: number): Promise<WriteAnswer>
  /** All of them in their order, each after those before it, or none. */
  changeMemories(
    identity: Identity,
    changes: readonly Change[],
    now: number,
    bound?: AnswerBound,
  ): Promise<ChangesAnswer>
  listMemories(identity: Identity, query: MemoriesQuery): Promise<MemoriesAnswer>
  /** The memory as it was. */
  readVersion(identity: Identity, key: string, version: number): Promise<VersionAnswer>
  /** `before`: only lower ones. */
  listVersions(
    identity: Identity,
    key: string,
    before: number | undefined,
    limit: number,
  ): Promise<VersionsAnswer>
  /**
   * For good: when this answers, nothing of the texts is left in the store's own files. A memory
   * that is erased whole leaves its number, as one that is deleted does.
   */
  eraseMemory(identity: Identity, key: string, versions: Erasure, now: number): Promise<EraseAnswer>
}
