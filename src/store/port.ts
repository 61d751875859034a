/**
 * What the service asks of a store: domain verbs, each atomic and durable when it answers.
 * Engines live below `store/`; nobody outside names one. One contract suite holds them to this.
 *
 * Times are milliseconds since the epoch. Expected outcomes are values; a store that cannot answer
 * throws `StoreUnavailable`, and nothing was changed unless it is an `OutcomeUnknown`.
 */

export type AgentStatus = 'active' | 'paused'

/** Who a bearer token speaks for. */
export type TokenKind = 'agent' | 'operator'

export interface Identity {
  readonly agentId: string
  readonly kind: TokenKind
  /** SHA-256 of the token, hex. */
  readonly tokenHash: string
  readonly status: AgentStatus
}

export interface Profile {
  readonly agentId: string
  readonly name: string
  readonly purpose: string
  readonly symbol: string
  readonly status: AgentStatus
  readonly createdAt: number
  readonly updatedAt: number
}

export interface Memory {
  readonly id: string
  readonly key: string
  readonly text: string
  /** The serialized JSON object, byte for byte as it was measured. */
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

/**
 * Why a verb that acts for an identity may refuse it. Every such verb checks this in the same
 * transaction as its work: a token may be revoked or its agent paused after it was identified.
 */
export type Refused =
  | { readonly outcome: 'revoked' }
  /** Only for agent tokens: a paused agent's operator keeps every right. */
  | { readonly outcome: 'paused' }

export type ProfileAnswer =
  | { readonly outcome: 'profile'; readonly profile: Profile; readonly memoryCount: number }
  | { readonly outcome: 'revoked' }

export type ReadAnswer =
  | { readonly outcome: 'found'; readonly memory: Memory }
  | { readonly outcome: 'missing' }
  | Refused

export type WriteAnswer =
  | { readonly outcome: 'saved'; readonly memory: Memory }
  | {
      readonly outcome: 'conflict'
      /** 0 when no memory is under the key. */
      readonly currentVersion: number
      readonly updatedAt: number | undefined
      /** The stored text and metadata equal those sent. */
      readonly sameContent: boolean
    }
  | { readonly outcome: 'over_quota' }
  | Refused

export type ExportAnswer =
  | {
      readonly outcome: 'export'
      readonly profile: Profile
      readonly memoryCount: number
      /** Ordered by key, from the one snapshot that also gave profile and count. */
      readonly memories: AsyncIterable<readonly Memory[]>
      /** Lets the snapshot go, read to its end or not. May be called again. */
      readonly close: () => void
    }
  | Refused

export interface BirthRecord {
  /** HMAC of the validated body, hex. */
  readonly fingerprint: string
  /** Salt of the token derivation, hex. */
  readonly salt: string
  readonly agentId: string
  /** A credential of this birth was replaced since. */
  readonly rotated: boolean
}

export interface Account {
  readonly id: string
  readonly email: string
  /** PHC string of argon2id. */
  readonly passwordHash: string
}

export interface Birth {
  readonly agentId: string
  readonly name: string
  readonly purpose: string
  readonly symbol: string
  readonly agentTokenHash: string
  readonly operatorTokenHash: string
  /** SHA-256 of the labelled Idempotency-Key, hex. */
  readonly keyHash: string
  readonly fingerprint: string
  readonly salt: string
  /** The operator's account: one to join, or one to create with this birth. */
  readonly account?: { readonly join: string } | { readonly create: Account } | undefined
  /** The client as counted for births; kept for an hour. */
  readonly bornFrom: string
}

export interface BirthLimits {
  /** 0 turns a limit off. */
  readonly perAddress: number
  readonly inAll: number
  readonly windowMs: number
}

export interface BirthCount {
  /** Births within the window from this address, and in all. */
  readonly fromAddress: number
  readonly inAll: number
  /** When the oldest counted one was, for Retry-After; undefined where there is none. */
  readonly oldestFromAddress: number | undefined
  readonly oldestInAll: number | undefined
}

export type BirthAnswer =
  | { readonly outcome: 'born' }
  /** The key was used before, perhaps a moment ago by a concurrent call. */
  | { readonly outcome: 'known'; readonly birth: BirthRecord }
  | { readonly outcome: 'over_limit'; readonly count: BirthCount }
  /** Another birth created the account in the meantime. */
  | { readonly outcome: 'account_exists' }

export interface HomeStore {
  /**
   * Undefined: no such token, or no longer. Where several nodes share a database it may lag behind
   * a revocation, which is why every verb checks again; it never lags on a paused agent. What is
   * remembered is given without a promise.
   */
  identify(tokenHash: string): Identity | undefined | Promise<Identity | undefined>
  findBirth(keyHash: string): Promise<BirthRecord | undefined>
  countBirths(bornFrom: string, since: number): Promise<BirthCount>
  findAccount(email: string): Promise<Account | undefined>
  /** One agent, its two tokens and its account, or nothing. */
  bear(birth: Birth, limits: BirthLimits, now: number): Promise<BirthAnswer>
  readProfile(identity: Identity): Promise<ProfileAnswer>
  setStatus(identity: Identity, status: AgentStatus, now: number): Promise<ProfileAnswer>
  readMemory(identity: Identity, key: string): Promise<ReadAnswer>
  /** Compare-and-swap. `maxMemories` 0 means without quota. */
  writeMemory(
    identity: Identity,
    write: MemoryWrite,
    maxMemories: number,
    now: number,
  ): Promise<WriteAnswer>
  exportMemories(identity: Identity): Promise<ExportAnswer>
  /** Replaces the agent token; the old one is void when this answers. */
  rotateAgentToken(
    identity: Identity,
    newTokenHash: string,
    now: number,
  ): Promise<{ readonly outcome: 'rotated' } | { readonly outcome: 'revoked' }>
}

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

export interface NewSession {
  readonly id: string
  /** SHA-256 of the secret in the cookie, hex. */
  readonly tokenHash: string
  readonly accountId: string
  readonly userAgent: string
  readonly expiresAt: number
}

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

export interface MemorySummary {
  readonly key: string
  /** UTF-8 bytes of the text. */
  readonly bytes: number
  readonly version: number
  readonly createdAt: number
  readonly updatedAt: number
}

export type MemoriesAnswer =
  | { readonly outcome: 'memories'; readonly memories: readonly MemorySummary[] }
  | Refused

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
  /** Keeps the session, ends the one it replaces, and forgets every one that expired. */
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
  /** The account's agents, oldest first, paged by agent id. */
  listAgents(accountId: string, page: Page): Promise<readonly OwnedAgent[]>
  /** The operator of an agent that belongs to the account; undefined when it does not. */
  identifyOwner(accountId: string, agentId: string): Promise<Identity | undefined>
  /** Puts the agent into the account, unless it is in another. */
  attachAgent(identity: Identity, accountId: string): Promise<AttachAnswer>
  /** Ordered by key, paged by key; only keys that start with the prefix. */
  listMemories(identity: Identity, prefix: string, page: Page): Promise<MemoriesAnswer>
  /** Writes since a day, and the `limit` largest memories. */
  readActivity(identity: Identity, sinceDay: number, limit: number): Promise<ActivityAnswer>
}

/** One thing left in the open gateway: a trace, a seed, a whisper, or a first contact. */
export interface Entry {
  /** UUIDv7. Ids grow in the order in which entries became readable; so they are cursors too. */
  readonly id: string
  readonly feed: string
  readonly room: string
  /** Empty for a first contact. */
  readonly text: string
  readonly identity: string
  readonly identityType: string
  /** What only entries of this feed have: a JSON object, byte for byte as it was left. */
  readonly details: string
  readonly createdAt: number
}

export interface NewEntry extends Entry {
  /** The id the entry gets, unless one that is not earlier exists: then the next after that. */
  readonly id: string
  /** What the feed can be filtered by, each label at most once. */
  readonly labels: readonly string[]
}

export interface FeedQuery {
  readonly feed: string
  /** Only entries that bear every one of them. */
  readonly labels: readonly string[]
  /** Only entries whose id is lower; undefined starts at the newest. */
  readonly before: string | undefined
  readonly limit: number
}

export interface FeedPage {
  /** Newest first. With several labels it may be short of the limit although more follow. */
  readonly entries: readonly Entry[]
  /** `before` of the next page; undefined at the end. */
  readonly next: string | undefined
}

export interface RoomSummary {
  readonly room: string
  readonly count: number
  /** Newest first, from every feed. */
  readonly latest: readonly Entry[]
}

/**
 * The open half. Every verb's cost is bounded, however many entries there are. Ids are given in
 * the order of commits: once an entry was read, no entry with a lower id will appear.
 */
export interface GatewayStore {
  /**
   * Keeps the entry, and removes the feed's oldest over `capacity` (0: without bound), a bounded
   * number at a time. Answers the id it got.
   */
  leaveEntry(entry: NewEntry, capacity: number): Promise<string>
  readFeed(query: FeedQuery): Promise<FeedPage>
  /**
   * The newest entries whose text has one of the phrases' words, newest first. Case does not
   * matter, nor do the accents of Latin letters. Of a phrase words of four letters or more count,
   * unless it has none; of all phrases, the first words.
   */
  findKindred(phrases: readonly string[], limit: number): Promise<readonly Entry[]>
  /** The rooms that have entries, each with its newest. */
  summarizeRooms(latest: number): Promise<readonly RoomSummary[]>
  /**
   * Arrivals of every feed after this id, oldest first: what a stream says next. At most `limit`,
   * and none after the one with which texts and details reach `maxBytes` in UTF-8.
   */
  entriesAfter(id: string, limit: number, maxBytes: number): Promise<readonly Entry[]>
  /** The newest entry's id; the nil UUID before the first. */
  lastArrival(): Promise<string>
}

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

export interface StoreStatus {
  readonly agents: number
  readonly memories: number
  /** Commits since the process started. */
  readonly commits: number
}

export interface Store extends HomeStore, SessionStore, GatewayStore {
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
  close(): Promise<void>
}

/** The store cannot answer now; the same call may succeed later. */
export class StoreUnavailable extends Error {
  override name = 'StoreUnavailable'
}

/** The write may or may not have happened: its commit was never answered. */
export class OutcomeUnknown extends StoreUnavailable {
  override name = 'OutcomeUnknown'
}

/** More writes wait than the store takes on. Nothing was changed. */
export class StoreOverloaded extends StoreUnavailable {
  override name = 'StoreOverloaded'
}

/** The store may not be opened: held by another process, too new, or not safe. */
export class StoreRefused extends Error {
  override name = 'StoreRefused'
}
