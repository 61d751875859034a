/** The credentials of an agent: its own token, its named keys, and its operator's token. */
import type { Identity } from './home.ts'

/** What a named key may do to the memories that it sees. */
export type Access = 'read' | 'write'

/** What bounds a named key, for as long as it lives. */
export interface KeyBounds {
  readonly id: string
  readonly name: string
  readonly access: Access
  /** It sees the memories whose keys start with it; empty: all of them. */
  readonly prefix: string
  /** Undefined: never. One that expired is known until it is revoked or gives way to a new one. */
  readonly expiresAt: number | undefined
}

export interface NamedKey extends KeyBounds {
  readonly createdAt: number
  /** To the minute; undefined before the first. */
  readonly lastUsedAt: number | undefined
}

/** Of each agent; none is without bound, for all of them are listed in one answer. */
export const KEYS_PER_AGENT = 50

/** A use is written down at most this often. */
export const USE_MS = 60_000

type Revoked = { readonly outcome: 'revoked' }

export type CreateKeyAnswer =
  | { readonly outcome: 'created'; readonly key: NamedKey }
  /** The agent has KEYS_PER_AGENT that have not expired. */
  | { readonly outcome: 'too_many' }
  | Revoked

export type KeysAnswer =
  /** Newest first. */
  { readonly outcome: 'keys'; readonly keys: readonly NamedKey[] } | Revoked

export type EndKeyAnswer =
  /** As it was. */
  { readonly outcome: 'ended'; readonly key: NamedKey } | { readonly outcome: 'missing' } | Revoked

/** How the present operator token came: whoever has the key and the token before it gets it again. */
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
  /** The present token was made with this key, and this identity or the one before asked for it. */
  | { readonly outcome: 'known'; readonly salt: string }
  | Revoked

export interface KeyStore {
  /** Replaces the agent token and ends every named key; all are void when this answers. */
  rotateAgentToken(
    identity: Identity,
    newTokenHash: string,
    now: number,
  ): Promise<{ readonly outcome: 'rotated' } | Revoked>
  createKey(
    identity: Identity,
    key: KeyBounds,
    tokenHash: string,
    now: number,
  ): Promise<CreateKeyAnswer>
  listKeys(identity: Identity): Promise<KeysAnswer>
  /** The key is void when this answers. */
  endKey(identity: Identity, id: string, now: number): Promise<EndKeyAnswer>
  /** That a named key was used, unless that was written down within USE_MS. */
  noteUse(identity: Identity, now: number): Promise<void>
  /**
   * The old token is void when this answers, and the birth can no longer be replayed. The agent
   * leaves its account, unless it is that of the identity.
   */
  replaceOperatorToken(
    identity: Identity,
    token: NewOperatorToken,
    now: number,
  ): Promise<ReplaceAnswer>
  /** By the token that was replaced, for as long as the one that took its place stands. */
  findReplacement(replacedTokenHash: string): Promise<Replacement | undefined>
}
