/** Daily activity of a home, for its operator. Not an audit log. */

import type { Identity, Profile, Refused } from './identity.ts'

const DAY_MS = 86_400_000

/** Days since the epoch, UTC. */
export const dayOf = (now: number): number => Math.floor(now / DAY_MS)

/** In milliseconds since the epoch, UTC. */
export const startOfDay = (now: number): number => dayOf(now) * DAY_MS

/** How many days are kept of an agent, today included. */
export const DAYS_KEPT = 30

/** Calls of the agent and of its named keys, without those of its operator. */
export interface Calls {
  readonly reads: number
  /** Writes refused because the memory had changed. */
  readonly conflicts: number
  /** Other refusals, except of a memory that does not exist. */
  readonly refusals: number
}

export interface CountedCalls extends Calls {
  readonly agentId: string
  readonly day: number
  /** When the last call came. */
  readonly seenAt: number
}

export interface DayOfActivity extends Calls {
  readonly day: number
  /** Saved changes of memories, by anyone. */
  readonly writes: number
}

export type Today = Omit<DayOfActivity, 'day'>

export interface OwnedAgent {
  readonly profile: Profile
  readonly memoryCount: number
  /** UTF-8 bytes of current texts and metadata, and bytes of vectors. */
  readonly bytes: number
  /** Accurate to about ten seconds; undefined if no call was counted yet. */
  readonly seenAt: number | undefined
  readonly today: Today
}

/** A position in a list, and a limit. */
export interface Page {
  /** The last item of the previous page; undefined for the first page. */
  readonly after?: string | undefined
  readonly limit: number
}

export type ActivityAnswer =
  | {
      readonly outcome: 'activity'
      /** Ordered by day, without days that have no calls. */
      readonly days: readonly DayOfActivity[]
      readonly seenAt: number | undefined
    }
  | Refused

export interface ActivityStore {
  /** Adds to the counters, and drops past days; calls of erased agents are dropped. */
  countCalls(calls: readonly CountedCalls[]): Promise<void>
  /** The account's agents, oldest first, paged by agent id, each with the counters of one day. */
  listAgents(accountId: string, page: Page, day: number): Promise<readonly OwnedAgent[]>
  readActivity(identity: Identity, sinceDay: number): Promise<ActivityAnswer>
}
