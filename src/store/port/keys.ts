/** The credentials of an agent: its own token, its named keys, and its operator's token. */
import type { Identity, KeyBounds } from './identity.ts'

export interface NewKey extends KeyBounds {
  /** Of a key with a client, which expires sooner if it is not used; undefined: never. */
  readonly grantedUntil?: number | undefined
}

export interface NamedKey extends KeyBounds {
  readonly createdAt: number
  /** To the minute; undefined if it was never used. */
  readonly lastUsedAt: number | undefined
  /**
   * Of a key with a client: how often a refresh token was used after it was replaced, and when last;
   * undefined if that did not happen for a while.
   */
  readonly reused?: { readonly times: number; readonly lastAt: number } | undefined
}

/** Per agent; bounded because all keys are listed in one response. */
export const KEYS_PER_AGENT = 50

/** Uses are recorded at most this often. */
export const USE_MS = 60_000

type Revoked = { readonly outcome: 'revoked' }

export type CreateKeyAnswer =
  | { readonly outcome: 'created'; readonly key: NamedKey }
  /** The agent already has KEYS_PER_AGENT unexpired keys. */
  | { readonly outcome: 'too_many' }
  | Revoked

export type KeysAnswer =
  /** Newest first. */
  { readonly outcome: 'keys'; readonly keys: readonly NamedKey[] } | Revoked

export type EndKeyAnswer =
  /** Unchanged. */
  { readonly outcome: 'ended'; readonly key: NamedKey } | { readonly outcome: 'missing' } | Revoked

/**
 * The request that created the current operator token: repeated with the key and the token before
 * it, it returns the token again.
 */
export interface Replacement {
  readonly agentId: string
  /** SHA-256 of the labelled Idempotency-Key, hex. */
  readonly keyHash: string
  /** Of the derivation, hex. */
  readonly salt: string
}

export interface NewOperatorToken extends Omit<Replacement, 'agentId'> {
  readonly tokenHash: string
}

export type ReplaceAnswer =
  | { readonly outcome: 'replaced' }
  /** The current token was created with this key, by this identity or its predecessor. */
  | { readonly outcome: 'known'; readonly salt: string }
  | Revoked

export interface KeyStore {
  /** Replaces the agent token and revokes all named keys; they are invalid when this returns. */
  rotateAgentToken(
    identity: Identity,
    newTokenHash: string,
    now: number,
  ): Promise<{ readonly outcome: 'rotated' } | Revoked>
  createKey(
    identity: Identity,
    key: NewKey,
    tokenHash: string,
    now: number,
  ): Promise<CreateKeyAnswer>
  listKeys(identity: Identity): Promise<KeysAnswer>
  /** The key, and what was issued for it, is invalid when this returns. */
  endKey(identity: Identity, id: string, now: number): Promise<EndKeyAnswer>
  /** Records a use of a named key, unless one was recorded within USE_MS. */
  noteUse(identity: Identity, now: number): Promise<void>
  /** Records, once a day, that the identity was told what others changed up to this event. */
  noteWake(identity: Identity, event: number, now: number): Promise<void>
  /**
   * The old token is invalid when this returns, and the birth can no longer be replayed. The agent
   * leaves its account unless the identity belongs to it.
   */
  replaceOperatorToken(
    identity: Identity,
    token: NewOperatorToken,
    now: number,
  ): Promise<ReplaceAnswer>
  /** Found by the replaced token, as long as its replacement is current. */
  findReplacement(replacedTokenHash: string): Promise<Replacement | undefined>
}
