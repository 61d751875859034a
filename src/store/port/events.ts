/** The event log of a home. It outlives the versions and contains no text. */
import type { Author, Identity, Refused } from './identity.ts'
import type { NamedKey } from './keys.ts'
import { OPERATIONS } from './memories.ts'

/** Changes of memories, and other events that an operator wants to see. */
export const EVENT_TYPES = [
  ...OPERATIONS,
  'erase',
  'protect',
  'unprotect',
  'export',
  'profile',
  'pause',
  'resume',
  'rotate_key',
  'create_key',
  'revoke_key',
  'reuse_token',
  'suspect_theft',
  'replace_operator_key',
  'rollback',
  'end_rollback',
  'begin_import',
  'end_import',
  'undo_import',
] as const

export type EventType = (typeof EVENT_TYPES)[number]

export interface HomeEvent {
  /** 1, 2, 3 …: in order, without gaps. */
  readonly id: number
  readonly type: EventType
  /** The memory's key; of a rename the new one. */
  readonly key: string | undefined
  /** Of a rename: the old key. */
  readonly from: string | undefined
  /** The version that the change created; undefined for an erasure of earlier versions only. */
  readonly version: number | undefined
  /**
   * The named key that was created or revoked, or whose token came again; undefined for events from
   * before it was recorded.
   */
  readonly namedKey: Pick<NamedKey, 'id' | 'name'> | undefined
  /** Of a rollback: its event, and how many changes follow as its parts. */
  readonly rollback?: { readonly to: number; readonly parts: number } | undefined
  /** What the version's text and metadata were committed to; undefined if it made no text. */
  readonly content?: string | undefined
  readonly by: Author | undefined
  readonly createdAt: number
  /** Of this event and all before it; undefined if the identity may not see it. */
  readonly hash?: string | undefined
}

/** A place in the chain of a home: its hash is that of all events up to this id. */
export interface Link {
  readonly id: number
  readonly hash: string
}

export type HeadAnswer =
  | {
      readonly outcome: 'head'
      /** The newest event; id 0 and the hash that every chain of this agent begins with if there is none. */
      readonly head: Link
      /** Of the newest event; undefined if none is retained. */
      readonly createdAt: number | undefined
      /** The event that the oldest retained one follows. */
      readonly base: Link
    }
  | Refused

export type EventsAnswer =
  | {
      readonly outcome: 'events'
      /** Oldest first. */
      readonly events: readonly HomeEvent[]
      /** What the first of them follows; undefined with a prefix. */
      readonly previous: Link | undefined
      /** The newest event of the home, visible to the identity or not; 0 if there is none. */
      readonly last: number
      /** The newest event that the identity may see; 0 if there is none. */
      readonly newest: number
      /**
       * The oldest retained event; for a key with a prefix, the oldest that it may see after `id`.
       */
      readonly first: number
      /**
       * The log was read up to this id: every visible event up to it is in the page. It is lower
       * than `last` if a limit was reached.
       */
      readonly reached: number
      /**
       * Events after `id` were retained once and are gone, or the id is higher than any event's.
       */
      readonly missed: boolean
      /** How many rows of the log were read. */
      readonly looked: number
    }
  | Refused

/** The most rows that one call filters. */
export const ROWS_PER_LOOK = 1_000

export interface EventsQuery {
  readonly order: 'oldest' | 'newest'
  /** `next` of the previous page; undefined for the first page. */
  readonly after?: number | undefined
  readonly limit: number
  /**
   * Only events from this time on. They are found by halving the log, so an event from while the
   * clock was ahead may hide earlier ones.
   */
  readonly since?: number | undefined
  /** Only events of this memory, under its old key too. */
  readonly key?: string | undefined
  /** Only events of memories whose keys start with this prefix. */
  readonly prefix: string
  readonly type?: EventType | undefined
  /** Only those of this author: `agent`, `operator`, or the id of a named key. */
  readonly by?: string | undefined
  /** Only those of the run that the client named so. */
  readonly run?: string | undefined
}

export type EventsPage =
  | {
      readonly outcome: 'page'
      /** In the order of the query. */
      readonly events: readonly HomeEvent[]
      /** Undefined at the end. */
      readonly next: number | undefined
      /** How many rows of the log were read, at most ROWS_PER_LOOK. */
      readonly looked: number
    }
  | Refused

export interface OthersEvent extends HomeEvent {
  /** Nothing had the key before. */
  readonly creates?: boolean
}

export type OthersAnswer =
  | {
      readonly outcome: 'others'
      /** Changes of memories, oldest first. */
      readonly events: readonly OthersEvent[]
      /** Nothing is missing; false if there may be earlier ones, pruned or not looked at. */
      readonly isWhole: boolean
      /** Events up to this one were not looked at; undefined if none are retained, or none are missing. */
      readonly next: number | undefined
      /** The newest event of the home, visible to the identity or not. */
      readonly last: number
      /** When a wake was noted last; undefined if none was. */
      readonly wokeAt: number | undefined
    }
  | Refused

export interface EventStore {
  /**
   * Events after this one; once an event was read, none with a lower id appears. With a prefix,
   * only events of keys that start with it, among at most ROWS_PER_LOOK rows.
   */
  eventsAfter(identity: Identity, id: number, limit: number, prefix?: string): Promise<EventsAnswer>
  /** A page that looks at at most ROWS_PER_LOOK rows, so it may be short although more follow. */
  listEvents(identity: Identity, query: EventsQuery): Promise<EventsPage>
  /**
   * What others did to memories with the prefix, among the newest ROWS_PER_LOOK rows up to `upTo`: since the
   * identity last changed a memory or noted a wake, else since its key was created.
   */
  eventsByOthers(identity: Identity, prefix: string, upTo?: number): Promise<OthersAnswer>
  readHead(identity: Identity): Promise<HeadAnswer>
  /**
   * Of these homes, each with its newest known event, those that have newer ones or are gone. Every
   * revocation, pause and erasure is an event.
   */
  changedHomes(seen: ReadonlyMap<string, number>): Promise<readonly string[]>
  /** Records an event that changed no memory. False if the identity was revoked. */
  recordEvent(identity: Identity, type: EventType, now: number): Promise<boolean>
}
