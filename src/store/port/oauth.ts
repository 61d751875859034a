/** What OAuth keeps besides keys, and the tokens that are issued for a granted key. */
import type { Access } from './identity.ts'
import type { NamedKey } from './keys.ts'

/** A key that an operator granted to a client. */
export interface Grant {
  readonly agentId: string
  readonly keyId: string
}

/** A registered client, the metadata document of another, a code or a refresh token. */
export interface OAuthRecord {
  /** SHA-256 of the labelled id, hex. */
  readonly idHash: string
  readonly kind: string
  /** The grant that it belongs to, with which it ends. */
  readonly grant?: Grant | undefined
  /** JSON, without the id. */
  readonly payload: string
  readonly expiresAt: number
}

export interface FoundRecord {
  readonly payload: string
  /** When a code or a refresh token was used; undefined: not yet. */
  readonly consumedAt: number | undefined
}

/** A use of a refresh token after it was replaced, soon enough to be another session's. */
export interface Reuse {
  readonly grant: Grant
  /** Of the record that counts those of the grant. */
  readonly idHash: string
  /** When the count is forgotten, unless there is another. */
  readonly expiresAt: number
}

export interface GrantedKey extends NamedKey {
  /** Undefined: as long as it is used. */
  readonly grantedUntil: number | undefined
}

export interface NewAccess {
  readonly grant: Grant
  readonly tokenHash: string
  /** At most the key's. */
  readonly access: Access
  readonly expiresAt: number
  /** When the key expires, unless another token is issued for it or `grantedUntil` is sooner. */
  readonly keyExpiresAt: number
}

/** Records of a kind, for each grant, and as many used ones; one more deletes the oldest. */
export const RECORDS_PER_GRANT = 100

/** Access tokens of a key that are valid at the same time, one for each session; one more ends the oldest. */
export const TOKENS_PER_GRANT = RECORDS_PER_GRANT

export interface OAuthStore {
  /**
   * Replaces a record with the same id, and deletes some expired ones and the oldest of its
   * grant: RECORDS_PER_GRANT of its kind stay, and as many used ones.
   */
  keepRecord(record: OAuthRecord, now: number): Promise<void>
  /** Undefined: unknown or expired. */
  findRecord(idHash: string, now: number): Promise<FoundRecord | undefined>
  /** Prolongs a record that would expire sooner. */
  prolongRecord(idHash: string, expiresAt: number): Promise<void>
  /** Marks a code or a refresh token as used. False if it was before, so that it is used once. */
  consumeRecord(idHash: string, now: number): Promise<boolean>
  dropRecord(idHash: string): Promise<void>
  /** Deletes the records of one kind of a grant. */
  dropRecordsOf(grant: Grant, kind: string): Promise<void>
  /** Undefined: unknown, revoked or expired. */
  findGrant(grant: Grant, now: number): Promise<GrantedKey | undefined>
  /** False if the grant has ended. */
  issueAccess(access: NewAccess, now: number): Promise<boolean>
  /** Ends the access tokens of a grant, or one of them; they are invalid when this returns. */
  endAccess(grant: Grant, tokenHash?: string): Promise<void>
  /** Counts a reuse, and logs the first of an hour as an event. False if the grant has ended. */
  noteReuse(reuse: Reuse, now: number): Promise<boolean>
  /**
   * Ends the grant on behalf of its client, with the key and all that was issued for it. `isTheft`:
   * because a code or a token may have been stolen; an event says so.
   */
  endGrant(grant: Grant, now: number, isTheft?: boolean): Promise<void>
}
