/** What happened in a home: its log, which outlives the versions and holds no text. */
import type { Author, Identity, Refused } from '../home.ts'
import type { NamedKey } from '../keys.ts'
import { OPERATIONS } from './memories.ts'

/** Each change of a memory, and what else an operator wants to know of. */
export const EVENT_TYPES = [
  ...OPERATIONS,
  'erase',
  'export',
  'profile',
  'pause',
  'resume',
  'rotate_key',
  'create_key',
  'revoke_key',
  'replace_operator_key',
  'sign_in',
] as const

export type EventType = (typeof EVENT_TYPES)[number]

export interface HomeEvent {
  /** 1, 2, 3 …: in the order in which they happened, without a gap. */
  readonly id: number
  readonly type: EventType
  /** Of the memory; the new one of a rename. */
  readonly key: string | undefined
  /** Of a rename: the old name. */
  readonly from: string | undefined
  /** The one that the memory got; undefined of an erasure that took only what was before. */
  readonly version: number | undefined
  /** The key that was made or ended; undefined also where that happened before keys were told. */
  readonly namedKey: Pick<NamedKey, 'id' | 'name'> | undefined
  readonly by: Author | undefined
  readonly createdAt: number
}

export type EventsAnswer =
  | {
      readonly outcome: 'events'
      /** Oldest first. */
      readonly events: readonly HomeEvent[]
      /** The newest event of the home, whoever may see it; 0 before the first. */
      readonly last: number
      /** The newest that the identity may see; 0 where there is none. */
      readonly newest: number
      /** The oldest that is kept; of a key with a prefix: of what it may see after `id`. */
      readonly first: number
      /**
       * The id up to which the log was looked through: every event that was asked for is here up to
       * it. Before `last` where the limit, or the most rows of a look, were reached.
       */
      readonly reached: number
      /** Events after `id` were kept once and are no longer, or the home has no such id yet. */
      readonly missed: boolean
      /** How many rows of the log were looked at. */
      readonly looked: number
    }
  | Refused

/** The most rows of the log that one look for the events of some keys goes through. */
export const ROWS_PER_LOOK = 1_000

export interface EventStore {
  /**
   * Those after this one; once it was read, none with a lower id will appear. With a prefix only
   * those that name a key which starts with it, among at most ROWS_PER_LOOK rows.
   */
  eventsAfter(identity: Identity, id: number, limit: number, prefix?: string): Promise<EventsAnswer>
  /**
   * Of these homes, each with the newest event that was seen of it: those that have another, and
   * those that are gone. Every revocation, pause and erasure is such a change.
   */
  changedHomes(seen: ReadonlyMap<string, number>): Promise<readonly string[]>
  /** Something that changed no memory. False: the identity was revoked. */
  recordEvent(identity: Identity, type: EventType, now: number): Promise<boolean>
}
