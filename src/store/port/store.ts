/**
 * The store's port: domain verbs, each atomic and durable when it returns. Engines are below
 * `store/`; nothing outside names one. One contract suite tests both.
 *
 * Times are milliseconds since the epoch. Expected outcomes are return values. A store that cannot
 * answer throws `StoreUnavailable`, and has changed nothing unless it is an `OutcomeUnknown`. Any
 * write can throw `StorageFull`.
 */
import type { Timers } from '../../timers.ts'
import type { StoreRefused } from './errors.ts'
import type { GatewayStore } from './gateway.ts'
import type { HomeStore } from './home.ts'
import type { HostStore } from './host.ts'
import type { OAuthStore } from './oauth.ts'
import type { SessionStore } from './sessions.ts'

export interface PermitPolicy {
  readonly name: string
  /** Permits per window. */
  readonly quota: number
  readonly windowMs: number
}

/** The part of a budget that this process may spend within its window. */
export interface PermitLease {
  readonly granted: number
  /** Permits that no process has leased yet. */
  readonly unleased: number
  readonly endsInMs: number
}

export type LeasePermits = (
  policy: PermitPolicy,
  key: string,
  wanted: number,
) => Promise<PermitLease>

export interface FeedBounds {
  readonly entries: number
  /** Approximate bytes on disk, with the index. */
  readonly bytes: number
}

/** Limits of a home; 0: unlimited. */
export interface HomeBounds {
  /** Live memories. */
  readonly memories: number
  /**
   * UTF-8 bytes of texts and metadata, including earlier versions, which are pruned first, and
   * bytes of vectors.
   */
  readonly bytes: number
  /** Of each memory, including the current one. */
  readonly versions: number
  readonly events: number
}

/**
 * Called while a database is migrated: `done` of `of` memories. Never called for an empty one.
 * `isWriting`: the commit is running, whose progress is unknown.
 */
export type Progress = (done: number, of: number, isWriting?: boolean) => void

/** A thread is told them, too. */
export interface StoreBounds {
  readonly home: HomeBounds
  /** Limits of each feed, beyond which its oldest entries are removed; 0: unlimited. */
  readonly feed: FeedBounds
  /** Bytes of memory for the search indexes of recently searched homes. */
  readonly searchCache: number
  /**
   * Bytes of the file system reserved for the home's writes: with less free, births and gateway
   * posts throw StorageFull. 0: none. Ignored if the engine cannot see the file system.
   */
  readonly diskReserve: number
}

export interface StoreOptions extends StoreBounds {
  readonly timers: Timers
}

/**
 * Totals as of the last answered write. With more than a thousand agents an engine may estimate them,
 * and then counts tombstones among the memories: to ask for them takes constant work.
 */
export interface Totals {
  readonly agents: number
  readonly memories: number
}

export interface StoreStatus extends Totals {
  /**
   * Durable commits since the store was opened that changed something. Writes may share one; a
   * conflict or refusal makes none, and one of unknown outcome is not counted.
   */
  readonly commits: number
  /** Free bytes of the data's file system; undefined if the engine cannot see it. */
  readonly freeBytes: number | undefined
}

export interface Store extends HomeStore, SessionStore, OAuthStore, GatewayStore, HostStore {
  /** The location of the data, for people; without credentials. */
  readonly location: string
  /** The database was empty: this start created its tables. */
  readonly isNew: boolean
  /** Warnings for the operator, as sentences; usually empty. */
  readonly warnings: readonly string[]
  /**
   * Takes up to `wanted` permits from a counter that all processes on this data share. Undefined
   * with a single process, which counts in memory.
   */
  readonly leasePermits: LeasePermits | undefined
  /** Commits a write as a health check. Throws StoreUnavailable. */
  checkWritable(now: number): Promise<void>
  status(): Promise<StoreStatus>
  /**
   * Calls `tell` once if a newer program has made the database unusable for this one, within a
   * second or two. Undefined with a single process.
   */
  readonly whenRefused: ((tell: (reason: StoreRefused) => void) => void) | undefined
  /** Starts the search thread, so that the first search need not wait for it. */
  prepareSearch(): void
  close(): Promise<void>
}
