/** What the browser console asks of a store, beside the home's verbs. */
import type { Account, Identity, Profile, Refused } from './home.ts'
import type { MemorySummary } from './keeping/memories.ts'

/** A browser's sign-in to an operator account. */
export interface Session {
  /** Names the session to its owner; opens nothing. */
  readonly id: string
  readonly accountId: string
  readonly email: string
  /** The browser, as it called itself at sign-in. */
  readonly userAgent: string
  readonly createdAt: number
  readonly seenAt: number
  readonly expiresAt: number
}

/** Sessions of an account; the oldest ends when there would be more. */
export const SESSIONS_PER_ACCOUNT = 20

/** Addresses that an account is known to be signed in from; the longest unseen is forgotten. */
export const ADDRESSES_PER_ACCOUNT = 20

/** Agents of an account whose logs tell of a sign-in, oldest first. */
export const LOGGED_AGENTS = 100

export interface NewSession {
  readonly id: string
  /** SHA-256 of the secret in the cookie, hex. */
  readonly tokenHash: string
  readonly accountId: string
  /** Of the client's address for this account, hex; remembered. */
  readonly addressHash: string
  readonly userAgent: string
  readonly expiresAt: number
}

/** Whose password may be set, or was. */
export type Recovered = Pick<Account, 'id' | 'email'>

export interface OwnedAgent {
  readonly profile: Profile
  readonly memoryCount: number
}

/** Where a list goes on, and how much of it is asked for. */
export interface Page {
  /** The last item of the page before; undefined for the first page. */
  readonly after?: string | undefined
  readonly limit: number
}

/** The day by which writes are counted. */
export const dayOf = (now: number): number => Math.floor(now / 86_400_000)

export interface DayOfWrites {
  /** Whole days since the epoch, UTC. */
  readonly day: number
  /** Memory writes that were saved on it. */
  readonly writes: number
}

export type ActivityAnswer =
  | {
      readonly outcome: 'activity'
      /** Ordered by day; days without a write are left out. */
      readonly days: readonly DayOfWrites[]
      /** Largest text first. */
      readonly largest: readonly MemorySummary[]
      /** UTF-8 bytes of all texts. */
      readonly totalBytes: number
    }
  | Refused

export type AttachAnswer =
  /** Also when the agent was the account's before. */
  | { readonly outcome: 'attached' }
  | { readonly outcome: 'attached_elsewhere' }
  | { readonly outcome: 'revoked' }

/** What the browser console asks beside the home's verbs, which it uses as its agents' operator. */
export interface SessionStore {
  /**
   * Keeps the session and its address, ends the one it replaces and the account's oldest over
   * `SESSIONS_PER_ACCOUNT`, and forgets every one that expired.
   */
  createSession(
    session: NewSession,
    replacedTokenHash: string | undefined,
    now: number,
  ): Promise<void>
  /** Undefined: unknown, revoked or expired. */
  findSession(tokenHash: string, now: number): Promise<Session | undefined>
  /** A session that was revoked in the meantime stays so. */
  touchSession(sessionId: string, expiresAt: number, now: number): Promise<void>
  /** Newest first, without the expired. */
  listSessions(accountId: string, now: number): Promise<readonly Session[]>
  /** False when the account has no such session. */
  revokeSession(accountId: string, sessionId: string): Promise<boolean>
  /** The account whose password may be set with the secret; undefined: unknown, used or expired. */
  findRecovery(secretHash: string, now: number): Promise<Recovered | undefined>
  /**
   * Sets the password, uses the secret up, ends every session of the account, and forgets the
   * addresses that it was signed in from. Undefined where the secret is void by now.
   */
  setPassword(secretHash: string, passwordHash: string, now: number): Promise<Recovered | undefined>
  /** The account's agents, oldest first, paged by agent id. */
  listAgents(accountId: string, page: Page): Promise<readonly OwnedAgent[]>
  /** The operator of an agent that belongs to the account; undefined when it does not. */
  identifyOwner(accountId: string, agentId: string): Promise<Identity | undefined>
  /** Puts the agent into the account, unless it is in another. */
  attachAgent(identity: Identity, accountId: string): Promise<AttachAnswer>
  /** Writes since a day, and the `limit` largest memories. */
  readActivity(identity: Identity, sinceDay: number, limit: number): Promise<ActivityAnswer>
}
