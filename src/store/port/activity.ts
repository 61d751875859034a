/** What is asked for in a home, day by day: for its operator to see, not for accounts to be kept by. */
import type { Identity, Profile, Refused } from './home.ts'

/** The day by which is counted: whole days since the epoch, UTC. */
export const dayOf = (now: number): number => Math.floor(now / 86_400_000)

/** Calls of the agent and of its named keys; what its operator asked for is not among them. */
export interface Calls {
  readonly reads: number
  /** Writes that were refused because the memory had been written since. */
  readonly conflicts: number
  /** What was refused for any other reason, but that something is not there. */
  readonly refusals: number
}

export interface CountedCalls extends Calls {
  readonly agentId: string
  readonly day: number
  /** When the last of them came. */
  readonly seenAt: number
}

export interface DayOfActivity extends Calls {
  readonly day: number
  /** Changes of memories that were saved, whoever made them. */
  readonly writes: number
}

export type Today = Omit<DayOfActivity, 'day'>

export interface OwnedAgent {
  readonly profile: Profile
  readonly memoryCount: number
  /** UTF-8 bytes of current texts and metadata. */
  readonly bytes: number
  /** To about ten seconds; undefined: not since calls are counted. */
  readonly seenAt: number | undefined
  readonly today: Today
}

/** Where a list goes on, and how much of it is asked for. */
export interface Page {
  /** The last item of the page before; undefined for the first page. */
  readonly after?: string | undefined
  readonly limit: number
}

export type ActivityAnswer =
  | {
      readonly outcome: 'activity'
      /** Ordered by day; days on which nothing was counted are left out. */
      readonly days: readonly DayOfActivity[]
      readonly seenAt: number | undefined
    }
  | Refused

export interface ActivityStore {
  /** Adds to what was counted. An agent that is gone is left out. */
  countCalls(calls: readonly CountedCalls[]): Promise<void>
  /** The account's agents, oldest first, paged by agent id, each with what was counted on a day. */
  listAgents(accountId: string, page: Page, day: number): Promise<readonly OwnedAgent[]>
  readActivity(identity: Identity, sinceDay: number): Promise<ActivityAnswer>
}
