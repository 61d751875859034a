/**
 * What the service asks of a store: domain verbs, each atomic and durable when it answers.
 * Engines live below `store/`; nobody outside names one. One contract suite holds them to this.
 *
 * Times are milliseconds since the epoch. Expected outcomes are values; a store that cannot answer
 * throws `StoreUnavailable`, and nothing was changed unless it is an `OutcomeUnknown`. Any write can
 * throw `StorageFull`.
 */
import type { GatewayStore } from './gateway.ts'
import type { HomeStore } from './home.ts'
import type { HostStore } from './host.ts'
import type { SessionStore } from './sessions.ts'

export interface PermitPolicy {
  readonly name: string
  /** Permits in a window. */
  readonly quota: number
  readonly windowMs: number
}

/** A share of a budget that a process may spend within its window. */
export interface PermitLease {
  readonly granted: number
  /** What nobody has leased yet. */
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
  /** With what finds entries again: nearly what they take on disk. */
  readonly bytes: number
}

/** What a home may hold; 0: without bound. */
export interface HomeBounds {
  /** Living ones. */
  readonly memories: number
  /** UTF-8 bytes of texts and metadata, earlier versions included: these give way first. */
  readonly bytes: number
  /** Of each memory, the current one included. */
  readonly versions: number
  readonly events: number
}

/**
 * Told while a database of an older program is brought up to date: `done` of `of` memories, from 0 to
 * all of them. Never where there is none. `isWriting`: what was done is on its way to the disk, and
 * nobody sees how far it is.
 */
export type Progress = (done: number, of: number, isWriting?: boolean) => void

export interface StoreOptions {
  readonly home: HomeBounds
  /** What each feed keeps before its oldest give way; 0: without bound. */
  readonly feed: FeedBounds
  /** Bytes that the indexes of the homes that were searched last may take in memory. */
  readonly searchCache: number
  /**
   * Bytes of the data's file system that are left to the home's writes: with less than that free,
   * births and arrivals in the gateway throw StorageFull. 0: none. Where the engine cannot see how
   * much is free, it has no say.
   */
  readonly diskReserve: number
}

/** What is stored, as of the last write that was answered. */
export interface Totals {
  readonly agents: number
  readonly memories: number
}

export interface StoreStatus extends Totals {
  /**
   * Durable commits that this store made since it was opened: those that changed something. Writes
   * may share one; a conflict or a refusal makes none, and one of unknown outcome is not counted.
   */
  readonly commits: number
  /** What is left of the data's file system; undefined where the engine cannot see it. */
  readonly freeBytes: number | undefined
}

export interface Store extends HomeStore, SessionStore, GatewayStore, HostStore {
  /** Where the data lives, for people; without credentials. */
  readonly location: string
  /** What its operator should put right, in sentences; empty as a rule. */
  readonly warnings: readonly string[]
  /**
   * Takes up to `wanted` permits from a count that all processes on this data share. Undefined
   * where there is but one process: it counts in its own memory.
   */
  readonly leasePermits: LeasePermits | undefined
  /** Proves that a write commits. Throws StoreUnavailable. */
  checkWritable(now: number): Promise<void>
  status(): Promise<StoreStatus>
  /** Starts what the first search would wait for. */
  prepareSearch(): void
  close(): Promise<void>
}
