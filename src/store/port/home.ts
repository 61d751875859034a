/** The agents' home: births, profiles and identities. */

import type { EventStore } from './events.ts'
import type { AgentStatus, Identity, Profile } from './identity.ts'
import type { KeyStore } from './keys.ts'
import type { MemoryStore } from './memories.ts'
import type { SearchStore } from './search.ts'
import type { TransferStore } from './transfer.ts'
import type { VectorStore } from './vectors.ts'

export type ProfileAnswer =
  | {
      readonly outcome: 'profile'
      readonly profile: Profile
      readonly memoryCount: number
      /** UTF-8 bytes of current texts and metadata, and bytes of vectors. */
      readonly bytes: number
    }
  | { readonly outcome: 'revoked' }

export interface BirthRecord {
  /** HMAC of the validated body, hex. */
  readonly fingerprint: string
  /** Salt from which the tokens are derived, hex. */
  readonly salt: string
  readonly agentId: string
  /** A token of this birth has been replaced since. */
  readonly rotated: boolean
}

export interface Account {
  readonly id: string
  readonly email: string
  /** PHC string of argon2id. */
  readonly passwordHash: string
}

/** Where a birth came from, for counting. */
export interface Birthplace {
  /** The client address as it is counted; kept for an hour. */
  readonly bornFrom: string
  /** The prefix of `bornFrom` that the client's network shares; undefined if it has none. */
  readonly bornWithin?: string | undefined
}

export interface Birth extends Birthplace {
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
  /** The operator's account: an existing one, or one to create with this birth. */
  readonly account?: { readonly join: string } | { readonly create: Account } | undefined
  /** Hash of the client address and the account, hex; remembered as an address of its sign-ins. */
  readonly addressHash?: string | undefined
}

export interface BirthLimits {
  /** 0 disables a limit. */
  readonly perAddress: number
  readonly perNetwork: number
  readonly inAll: number
  readonly windowMs: number
}

export const isLimited = ({ perAddress, perNetwork, inAll }: BirthLimits): boolean =>
  perAddress > 0 || perNetwork > 0 || inAll > 0

export interface BirthCount {
  /** Births within the window from this address, from its network, and in all. */
  readonly fromAddress: number
  readonly fromNetwork: number
  readonly inAll: number
  /** When the oldest counted birth was, for Retry-After; undefined if there is none. */
  readonly oldestFromAddress: number | undefined
  readonly oldestFromNetwork: number | undefined
  readonly oldestInAll: number | undefined
}

export type BirthAnswer =
  | { readonly outcome: 'born' }
  /** The key was used before, possibly by a concurrent call. */
  | { readonly outcome: 'known'; readonly birth: BirthRecord }
  | { readonly outcome: 'over_limit'; readonly count: BirthCount }
  /** A concurrent birth has created the account. */
  | { readonly outcome: 'account_exists' }

/** Omitted members stay as they are. */
export interface ProfileChange {
  readonly name?: string | undefined
  readonly purpose?: string | undefined
  readonly symbol?: string | undefined
}

export interface HomeStore
  extends MemoryStore,
    SearchStore,
    VectorStore,
    EventStore,
    KeyStore,
    TransferStore {
  /**
   * Undefined: unknown or revoked. With several nodes it may lag behind a revocation, so every verb
   * checks again; a paused agent is never out of date. Cached identities are returned
   * synchronously.
   */
  identify(tokenHash: string): Identity | undefined | Promise<Identity | undefined>
  findBirth(keyHash: string): Promise<BirthRecord | undefined>
  /** Whether there is room for births and for gateway posts. True if the engine cannot know. */
  hasRoom(): Promise<boolean>
  countBirths(place: Birthplace, since: number): Promise<BirthCount>
  findAccount(email: string): Promise<Account | undefined>
  /** Whether an account was signed in to, or born into with its password, from this address. */
  knowsAddress(addressHash: string): Promise<boolean>
  /** One agent, its two tokens and its account, or nothing. */
  bear(birth: Birth, limits: BirthLimits, now: number): Promise<BirthAnswer>
  /** With a prefix, only memories whose keys start with it are counted. */
  readProfile(identity: Identity, prefix?: string): Promise<ProfileAnswer>
  setStatus(identity: Identity, status: AgentStatus, now: number): Promise<ProfileAnswer>
  changeProfile(identity: Identity, change: ProfileChange, now: number): Promise<ProfileAnswer>
  /**
   * Removes everything of the agent, except that its birth counts for an hour. The account stays.
   */
  eraseAgent(
    identity: Identity,
    now: number,
  ): Promise<{ readonly outcome: 'erased' } | { readonly outcome: 'revoked' }>
}
