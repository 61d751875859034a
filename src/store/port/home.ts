/** The agents' home: births, profiles, and who may do what with what an agent keeps. */
import type { EventStore } from './keeping/events.ts'
import type { MemoryStore } from './keeping/memories.ts'
import type { SearchStore } from './keeping/search.ts'
import type { KeyBounds, KeyStore } from './keys.ts'
import type { TransferStore } from './transfer.ts'

export type AgentStatus = 'active' | 'paused'

/** Who a bearer token speaks for. */
export type TokenKind = 'agent' | 'operator'

/** By which door somebody came. `host`: by a command where the service runs. */
export const DOORS = ['api', 'console', 'mcp', 'host'] as const
export type Door = (typeof DOORS)[number]

export interface Identity {
  readonly agentId: string
  readonly kind: TokenKind
  /** SHA-256 of the token, hex. */
  readonly tokenHash: string
  readonly status: AgentStatus
  /** `api` where it is left out. */
  readonly via?: Door
  /** The e-mail address of the operator's account, in the console. */
  readonly account?: string
  /** Of an agent's named key: what it is bounded by. */
  readonly key?: KeyBounds
}

/** Who did something, as it is kept. */
export interface Author {
  readonly as: TokenKind
  readonly via: Door
  readonly account?: string
  /** The named key. */
  readonly key?: Pick<KeyBounds, 'id' | 'name'>
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

/**
 * Why a verb that acts for an identity may refuse it. Every such verb checks this in the same
 * transaction as its work: a token may be revoked or its agent paused after it was identified.
 */
export type Refused =
  | { readonly outcome: 'revoked' }
  /** Only for agent tokens: a paused agent's operator keeps every right. */
  | { readonly outcome: 'paused' }

export type ProfileAnswer =
  | {
      readonly outcome: 'profile'
      readonly profile: Profile
      readonly memoryCount: number
      /** UTF-8 bytes of current texts and metadata. */
      readonly bytes: number
    }
  | { readonly outcome: 'revoked' }

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

/** Where a birth is asked for, as births are counted. */
export interface Birthplace {
  /** The client as counted; kept for an hour. */
  readonly bornFrom: string
  /** What `bornFrom` begins with in all of the client's network; undefined where it has none. */
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
  /** The operator's account: one to join, or one to create with this birth. */
  readonly account?: { readonly join: string } | { readonly create: Account } | undefined
  /** Of the client's address for this account, hex; remembered as one that it is signed in from. */
  readonly addressHash?: string | undefined
}

export interface BirthLimits {
  /** 0 turns a limit off. */
  readonly perAddress: number
  readonly perNetwork: number
  readonly inAll: number
  readonly windowMs: number
}

export interface BirthCount {
  /** Births within the window from this address, from its network, and in all. */
  readonly fromAddress: number
  readonly fromNetwork: number
  readonly inAll: number
  /** When the oldest counted one was, for Retry-After; undefined where there is none. */
  readonly oldestFromAddress: number | undefined
  readonly oldestFromNetwork: number | undefined
  readonly oldestInAll: number | undefined
}

export type BirthAnswer =
  | { readonly outcome: 'born' }
  /** The key was used before, perhaps a moment ago by a concurrent call. */
  | { readonly outcome: 'known'; readonly birth: BirthRecord }
  | { readonly outcome: 'over_limit'; readonly count: BirthCount }
  /** Another birth created the account in the meantime. */
  | { readonly outcome: 'account_exists' }

/** What is left out stays. */
export interface ProfileChange {
  readonly name?: string | undefined
  readonly purpose?: string | undefined
  readonly symbol?: string | undefined
}

export interface HomeStore extends MemoryStore, SearchStore, EventStore, KeyStore, TransferStore {
  /**
   * Undefined: no such token, or no longer. Where several nodes share a database it may lag behind
   * a revocation, which is why every verb checks again; it never lags on a paused agent. What is
   * remembered is given without a promise.
   */
  identify(tokenHash: string): Identity | undefined | Promise<Identity | undefined>
  findBirth(keyHash: string): Promise<BirthRecord | undefined>
  /** Whether there is room for births, and for arrivals in the gateway. True where nobody knows. */
  hasRoom(): Promise<boolean>
  countBirths(place: Birthplace, since: number): Promise<BirthCount>
  findAccount(email: string): Promise<Account | undefined>
  /** Whether an account was signed in to, or born into with its password, from this address. */
  knowsAddress(addressHash: string): Promise<boolean>
  /** One agent, its two tokens and its account, or nothing. */
  bear(birth: Birth, limits: BirthLimits, now: number): Promise<BirthAnswer>
  /** With a prefix what is counted is that of memories whose keys start with it. */
  readProfile(identity: Identity, prefix?: string): Promise<ProfileAnswer>
  setStatus(identity: Identity, status: AgentStatus, now: number): Promise<ProfileAnswer>
  changeProfile(identity: Identity, change: ProfileChange, now: number): Promise<ProfileAnswer>
  /** Nothing of the agent is left, but for an hour that one was born. Accounts stay. */
  eraseAgent(
    identity: Identity,
    now: number,
  ): Promise<{ readonly outcome: 'erased' } | { readonly outcome: 'revoked' }>
}
