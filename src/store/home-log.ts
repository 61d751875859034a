/**
 * THE WAIST: what an engine does with the log of one home. The memories' verbs are written once over
 * this; an engine has its own tables, statements and order of rows below it.
 */
import type { Actor, Batch, Begun } from './batches.ts'
import type { Content, Head } from './change.ts'
import type { Link } from './erasure.ts'
import type { Counters, Stored } from './plan.ts'
import type { EventType } from './port/events.ts'
import type { Refused } from './port/identity.ts'
import type { Change, Operation } from './port/memories.ts'
import type { Then } from './verbs/states-before.ts'
import type { Verb } from './verbs/verb.ts'

/** A row of the log: one that is there, or that of an event which is saved with it. */
export type Place = { readonly row: number } | { readonly event: number }

/** The last event of a home, and the hash of the chain up to it. */
export interface ChainHead {
  readonly lastEvent: number
  readonly head: Uint8Array
}

/** A version, in the row of its event. */
export interface MadeVersion {
  readonly operation: Operation
  readonly previous: Place | null
  /** The memory's. */
  readonly id: string
  readonly createdAt: number
  /** UTF-8 bytes of the text, and of the text and metadata. */
  readonly bytes: number
  readonly size: number
  /** Null of a deletion. */
  readonly content: Content | null
  readonly salt: Uint8Array | null
  /** If an import brings it: what is otherwise the event's. */
  readonly asItWas?: AsItWas | undefined
}

export interface AsItWas {
  /** As JSON. */
  readonly author: string | null
  readonly updatedAt: number
  /** The key that it was made under; null if that is the memory's. */
  readonly madeAs: string | null
}

export interface LogEntry {
  /** Of the event. */
  readonly id: number
  readonly type: EventType
  /** The subject, as text. */
  readonly key: string | null
  readonly from: string | null
  readonly version: number | null
  /** As JSON. */
  readonly by: string
  readonly at: number
  readonly hash: Uint8Array
  /** What the version's content was committed to. */
  readonly content: Uint8Array | null
  readonly made?: MadeVersion | undefined
}

/** The counters of a home and the end of its chain; an engine adds what it needs itself. */
export interface Home extends Counters, ChainHead {}

/** The current state of a key. */
export interface KeyState extends Head {
  readonly pinned: boolean
  /** The row of its newest version; null if none is retained. */
  readonly place: Place | null
  /** The event that changed it last; 0: not known, of a key without a version (`leftSince`). */
  readonly change: number
  /** Retained versions, and those of them that follow on each other, where an engine counts them. */
  readonly count: number
  readonly run: number
}

/** What the verbs need to know of the keys that they change. */
export interface Loaded extends Stored {
  readonly head: (key: string) => KeyState | undefined
}

/** What a transaction leaves of a home. */
export interface Saving {
  readonly agentId: string
  /** As it was locked. */
  readonly before: Home
  readonly after: Home
  /** New rows of the log, in order. */
  readonly entries: readonly LogEntry[]
  /** New states of keys, and those that they had. */
  readonly states: ReadonlyMap<string, KeyState>
  readonly stored: (key: string) => KeyState | undefined
  /** Changes of memories that count as writes of the day. */
  readonly writes: number
  readonly now: number
}

export interface HomeLog {
  /** The home, locked until the end of the transaction. */
  lock(actor: Actor): Verb<{ readonly outcome: 'locked'; readonly home: Home } | Refused>
  /** The states of all keys that these changes are about, with what they need of their versions. */
  load(agentId: string, changes: readonly Change[]): Verb<Loaded>
  states(agentId: string, keys: readonly string[]): Verb<ReadonlyMap<string, KeyState>>
  /** The retained versions of a memory, newest first. */
  chain(agentId: string, key: string): Verb<readonly Link[]>
  /** What versions hold; of those that are retained and no deletions, by row. */
  texts(agentId: string, rows: readonly number[]): Verb<ReadonlyMap<number, Then>>
  /** Which of these rows hold an `import` event. */
  imported(agentId: string, rows: readonly number[]): Verb<ReadonlySet<number>>
  /** Which of these keys, without a version, were renamed or deleted after the event; only if `change` is unknown. */
  leftSince(agentId: string, keys: readonly string[], event: number): Verb<ReadonlySet<string>>
  /** Removes versions, and links others; rows of retained events stay, without their versions. */
  remove(
    agentId: string,
    home: Home,
    gone: readonly Link[],
    relinked: readonly Pick<Link, 'n' | 'previous'>[],
  ): Verb<void>
  /** Saves it, and prunes what is over the home's limits. */
  save(saving: Saving): Verb<void>
  /** The import or rollback that has begun and not ended. */
  begun(agentId: string): Verb<Begun | undefined>
  /** Remembers that a batch has begun one, or goes on with it, or forgets it with the last. */
  record(agentId: string, batch: Batch, event: number): Verb<Begun>
}
