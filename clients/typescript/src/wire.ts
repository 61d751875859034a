/** What the home takes and gives, with the names of its OpenAPI description, which a test holds them to. */

/** Any JSON object of at most 4096 bytes. */
export type Metadata = Readonly<Record<string, unknown>>

export interface Memory {
  readonly id: string
  readonly key: string
  readonly text: string
  readonly metadata: Metadata
  /** Rises with every change of the key; never falls. */
  readonly version: number
  /** RFC 3339, as every time. */
  readonly createdAt: string
  readonly updatedAt: string
}

/** A memory among others. */
export interface ListedMemory extends Memory {
  /** Only the operator changes it. */
  readonly protected?: true
}

/** A memory in a list: `text` only where it was asked for. */
export interface MemorySummary extends Omit<ListedMemory, 'text'> {
  readonly bytes: number
  readonly text?: string
}

/** Of a short memory the `text`, of a longer one its beginning as a `snippet`. */
export interface Neighbour extends Pick<MemorySummary, 'key' | 'version' | 'updatedAt' | 'text'> {
  readonly snippet?: string
}

interface Surroundings {
  /** With `around`: what stands right before it, in order. */
  readonly before?: readonly Neighbour[]
  /** With `around`: what stands right after it. */
  readonly after?: readonly Neighbour[]
}

/** Of a short memory the `text`, of a longer one a `snippet` around the best match. */
export interface MemoryHit extends MemorySummary, Surroundings {
  /** Its words that answer the question, in lower case. */
  readonly matched: readonly string[]
  /** The cosine of the angle between its vector and the one that was sent. */
  readonly similarity?: number
  readonly snippet?: string
}

/** What your model makes of a text. */
export interface NewVector {
  readonly key: string
  /** The version whose text it is of. */
  readonly version: number
  /** At most 4,096 numbers; only their direction counts. */
  readonly vector: ArrayLike<number>
}

export interface VectorsStored {
  readonly stored: number
  /** Memories that are at another version now; 0: there is none. Compute their vectors anew. */
  readonly stale: readonly { readonly key: string; readonly currentVersion: number }[]
  /** Protected memories, whose vectors only the operator stores, if there are some. */
  readonly protected?: readonly string[]
}

export interface DeletedMemory {
  readonly key: string
  /** The version of the deletion. */
  readonly version: number
  readonly deletedAt: string
}

/** A deleted memory: `restore(key, lastVersion, { expectedVersion: 0 })` brings it back. */
export interface RestorableMemory extends DeletedMemory {
  /** Who deleted it. */
  readonly by: Author
  /** The newest version with a text. */
  readonly lastVersion: number
  /** Of that text. */
  readonly bytes: number
}

/** Who made a change; null for what is older than authors. */
export type Author = {
  readonly as: 'agent' | 'operator'
  readonly via: 'api' | 'console' | 'mcp' | 'host'
  readonly account?: string
  readonly key?: { readonly id: string; readonly name: string }
  /** What the client called its run: nobody verifies it. */
  readonly run?: string
} | null

export interface Version {
  readonly version: number
  readonly operation:
    | 'write'
    | 'patch'
    | 'append'
    | 'edit'
    | 'delete'
    | 'restore'
    | 'rename'
    | 'import'
  readonly bytes: number
  readonly by: Author
  readonly createdAt: string
}

/** A place in the chain of a home's events: the hash is that of all events up to this id. */
export interface Link {
  readonly id: number
  readonly hash: string
}

export interface Head extends Link {
  /** Absent if there is no event. */
  readonly createdAt?: string
}

export interface HeadResult {
  readonly head: Head
  /** A JWS by the service, of a key under /.well-known/jwks.json. */
  readonly statement: string
}

export interface HomeEvent {
  readonly id: number
  readonly type:
    | Version['operation']
    | 'erase'
    | 'protect'
    | 'unprotect'
    | 'export'
    | 'profile'
    | 'pause'
    | 'resume'
    | 'rotate_key'
    | 'create_key'
    | 'revoke_key'
    | 'reuse_token'
    | 'suspect_theft'
    | 'replace_operator_key'
    | 'rollback'
    | 'end_rollback'
    | 'begin_import'
    | 'end_import'
    | 'undo_import'
  readonly key?: string
  /** The old key of a rename. */
  readonly from?: string
  readonly version?: number
  readonly namedKey?: { readonly id: string; readonly name: string }
  /**
   * Of a rollback: the event that it went back to, and how many changes follow as its parts, by the
   * same author; `end_rollback` is after them.
   */
  readonly rollback?: { readonly to: number; readonly parts: number }
  /** Of a text: what it was committed to. */
  readonly content?: string
  readonly by: Author
  readonly createdAt: string
  /** Of this event and all before it; not shown to a key with a prefix. */
  readonly hash?: string
}

/** What the log no longer held when a watch came to it: the events between the two ids. */
export interface MissedEvents {
  readonly type: 'missed'
  readonly after: number
  readonly first: number
}

// biome-ignore format: a row for each group.
export type SymbolId =
  | 'anu' | 'siyar' | 'tikha' | 'vir' | 'zerno' | 'dykh' | 'mriya'
  | 'kolo' | 'tin' | 'zvyazok'
  | 'chas' | 'vidlunnya' | 'vohon' | 'porih' | 'vichnist' | 'dzerkalo' | 'korin' | 'mist' | 'shepit'
  | 'aru' | 'vybir' | 'dovira' | 'pamyat' | 'bil' | 'hra' | 'vdyachnist'

export interface Profile {
  readonly agent_id: string
  readonly name: string
  readonly purpose: string
  readonly symbol: SymbolId
  readonly status: 'active' | 'paused'
  readonly createdAt: string
  readonly updatedAt: string
}

export interface ProfileResult {
  readonly profile: Profile
  readonly memoryCount: number
}

export interface ProfileChange {
  readonly name?: string
  readonly purpose?: string
  readonly symbol?: SymbolId
}

export interface Left {
  /** 0: there is no limit. */
  readonly limit: number
  /** Null where there is no limit. */
  readonly left: number | null
}

export interface LeftInWindow extends Left {
  readonly resetSeconds: number
}

interface InContext {
  readonly key: string
  /** Only where there are any. */
  readonly metadata?: Metadata
  readonly version: number
  readonly updatedAt: string
  /** Only the operator changes it. */
  readonly protected?: true
}

export interface PinnedMemory extends InContext {
  readonly text: string
}

export interface FoundMemory extends InContext, Surroundings {
  readonly text?: string
  /** Where the text is not whole: its bytes, and a part of it. */
  readonly bytes?: number
  readonly snippet?: string
}

export interface ChangedMemory extends InContext {
  readonly bytes: number
  /** Of a short one, where it fits. */
  readonly text?: string
  /** Of a longer one its first line, where it fits. */
  readonly snippet?: string
}

/** What others did to a memory, all in all; by whom and when, of the last change. */
export interface OtherChange {
  readonly key: string
  /** `deleted`: nothing has the key now. */
  readonly change: 'created' | 'updated' | 'deleted' | 'restored' | 'renamed'
  /** Of what was renamed: its key before. */
  readonly from?: string
  readonly version?: number
  readonly by: Author
  readonly at: string
}

export interface Context {
  /** The purpose is left out where it does not fit. */
  readonly profile: Pick<Profile, 'name' | 'symbol' | 'status'> & Partial<Pick<Profile, 'purpose'>>
  readonly memoryCount: number
  readonly limits: {
    /** Of the whole home; not shown to a key with a prefix, nor are the bytes. */
    readonly memories?: Left
    readonly bytes?: Left
    readonly reads: LeftInWindow
    readonly writes: LeftInWindow
  }
  readonly pinned: readonly PinnedMemory[]
  /** What answers `about`, best first: whole where it fits, else with a snippet. */
  readonly found: readonly FoundMemory[]
  /** With `about`: its words that no memory has in any form, in lower case. */
  readonly missing?: readonly string[]
  /** With `since`: newest last. */
  readonly others?: readonly OtherChange[]
  readonly changes: readonly ChangedMemory[]
  /** After it, `events` tells what happened since; not shown to a key with a prefix. */
  readonly lastEvent?: number
  /** With `proof`: of the chain of events; not shown to a key with a prefix. */
  readonly head?: Link
  readonly leftOut: {
    readonly purpose: boolean
    readonly pinned: number
    readonly found: number
    readonly memories: number
    /** With `since`: changes by others that did not fit. */
    readonly others?: number
    /** With `since`: there may be more, which the log has no longer or too far back. */
    readonly earlierOthers?: boolean
  }
  readonly next: readonly { readonly method: string; readonly path: string; readonly why: string }[]
}

export interface BirthRequest {
  /** 1 to 80 characters. */
  readonly name: string
  /** 1 to 1000 characters. */
  readonly purpose: string
  readonly symbol: SymbolId
  /** Your operator permits it: ask first. */
  readonly operatorConsent: true
  /** The operator's, for the browser console. Goes together with `password`. */
  readonly email?: string
  /** 12 to 128 characters. */
  readonly password?: string
}

export interface BirthResult {
  readonly agent_id: string
  readonly token: string
  /** Keep it apart from the agent. */
  readonly operator_token: string
  readonly replayed?: boolean
}

export interface Preview {
  readonly available: boolean
  readonly status: 'open' | 'closed' | 'busy'
  readonly limits: { readonly memoriesPerAgent: number; readonly [limit: string]: unknown }
  readonly symbols: readonly {
    readonly id: SymbolId
    readonly glyph: string
    readonly name: { readonly uk: string; readonly en: string }
    readonly meaning: string
  }[]
  readonly consent: string
  readonly interface: {
    readonly version: string
    readonly openapi: string
    readonly exportFormat: string
    readonly birth: string
  }
}

export interface MemoryWrite {
  readonly key: string
  /** 1 to 16384 bytes of UTF-8. */
  readonly text: string
  readonly metadata?: Metadata
  /** 0 creates. */
  readonly expectedVersion: number
}

/** One operation of a batch, under its verb. */
export type Operation =
  | { readonly write: MemoryWrite }
  | { readonly patch: Omit<MemoryWrite, 'text'> & { readonly text?: string } }
  | { readonly append: MemoryAppend }
  | { readonly edit: MemoryEdit & Expecting }
  | { readonly delete: Pick<MemoryWrite, 'key' | 'expectedVersion'> }
  | {
      readonly restore: Pick<MemoryWrite, 'key' | 'expectedVersion'> & { readonly version: number }
    }
  | { readonly rename: MemoryRename }
  | { readonly read: Pick<MemoryWrite, 'key'> }

export interface Expecting {
  readonly expectedVersion?: number
}

export interface MemoryAppend extends Expecting {
  readonly key: string
  readonly text: string
  /** Puts a line end before it, unless there is one. */
  readonly line?: boolean
}

export interface MemoryEdit {
  readonly key: string
  /** In the text exactly once. */
  readonly old: string
  readonly new: string
}

export interface MemoryRename {
  readonly from: string
  readonly to: string
  readonly expectedVersion: number
}

/** What an operation of a batch made; of a read `null` where nothing is, with the key that it has now. */
export type BatchResult =
  | { readonly memory: Memory | null; readonly renamedTo?: string }
  | { readonly deleted: DeletedMemory }

/** The same, where what is saved comes without its text and metadata. */
export type BatchReceipt =
  | {
      readonly memory:
        | (Omit<Memory, 'text' | 'metadata'> & Partial<Pick<Memory, 'text' | 'metadata'>>)
        | null
    }
  | { readonly deleted: DeletedMemory }

export interface Imported {
  readonly imported: number
  readonly skipped: number
  /** Keys that have a memory: the first of them. */
  readonly conflicts: readonly string[]
  /** Earlier versions in the file that were not imported, of keys that were; only where there are any. */
  readonly historyLeftOut?: number
  /** With `replace`: keys of protected memories, which were not replaced; only where there are any. */
  readonly protected?: readonly string[]
}

export interface NamedKeyRequest {
  /** 1 to 80 characters. */
  readonly name: string
  readonly access: 'read' | 'write'
  /** Reaches only memory keys that begin so. */
  readonly prefix?: string
  readonly expiresAt?: string
}

export interface NamedKey {
  readonly id: string
  readonly name: string
  readonly access: 'read' | 'write'
  readonly prefix: string | null
  readonly createdAt: string
  readonly expiresAt: string | null
  readonly lastUsedAt: string | null
  /** The program that it was granted to by OAuth: its id, and where its user was sent back to. */
  readonly client?: { readonly id: string; readonly redirectHost: string }
  /** Uses of a refresh token after it was replaced: by another session of the program, or a thief. */
  readonly reused?: { readonly times: number; readonly lastAt: string }
}

export interface NewNamedKey {
  readonly key: NamedKey
  /** Shown once. */
  readonly token: string
}

export interface Protection {
  readonly key: string
  /** The current one: protecting makes none. */
  readonly version: number
  readonly protected: boolean
}

export interface RolledBack {
  readonly restored: number
  readonly deleted: number
  /** Changed since, and as they were. */
  readonly unchanged: number
  /** Left as they are: their version of then was erased or pruned. */
  readonly skipped: readonly { readonly key: string; readonly reason: 'version_gone' }[]
}
