/** What the browser console asks of a store, beside the home's verbs. */

import type { ActivityStore } from './activity.ts'
import type { Account, Identity } from './home.ts'
import type { PasskeyStore } from './passkeys.ts'

/** A browser's sign-in to an operator account. */
export interface Session {
  /** Names the session to its owner; opens nothing. */
  readonly id: string
  readonly accountId: string
  readonly email: string
  /** The browser, as it called itself at sign-in. */
  readonly userAgent: string
  /** Where it was begun from, without what tells one client from its neighbours; may be empty. */
  readonly place: string
  readonly createdAt: number
  readonly seenAt: number
  readonly expiresAt: number
  /** When whoever uses it last proved to be the account's owner; 0: nobody knows. */
  readonly confirmedAt: number
  /** Counts the forms that were sent once: one that was made before the last is refused. */
  readonly turn: number
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
  readonly place: string
  readonly expiresAt: number
}

/** Whoever owns an agent, as its operator. */
export interface Owner {
  readonly identity: Identity
  /** The newest event of the home as it is asked; 0 before the first. */
  readonly lastEvent: number
}

/** Whose password may be set, or was. */
export type Recovered = Pick<Account, 'id' | 'email'>

/** Another password in the place of the one that was asked for. */
export interface PasswordChange {
  readonly accountId: string
  /** PHC strings. */
  readonly replaces: string
  readonly passwordHash: string
  /** The session and the address that it is changed from. */
  readonly sessionId: string
  readonly addressHash: string
}

export type AttachAnswer =
  /** Also when the agent was the account's before. */
  | { readonly outcome: 'attached' }
  | { readonly outcome: 'attached_elsewhere' }
  | { readonly outcome: 'revoked' }

/** What the browser console asks beside the home's verbs, which it uses as its agents' operator. */
export interface SessionStore extends ActivityStore, PasskeyStore {
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
  /** Every session of the account but this one ends. */
  endOtherSessions(accountId: string, sessionId: string): Promise<void>
  /** Its owner has proved to be there. */
  confirmSession(sessionId: string, now: number): Promise<void>
  /** False where the turn was taken before, or the session has ended. */
  takeTurn(sessionId: string, turn: number): Promise<boolean>
  /**
   * Ends every other session, voids a link that would set the password, and forgets the other
   * addresses that the account was signed in from. Passkeys stay. False where the password is
   * another by now.
   */
  changePassword(change: PasswordChange, now: number): Promise<boolean>
  /** The account whose password may be set with the secret; undefined: unknown, used or expired. */
  findRecovery(secretHash: string, now: number): Promise<Recovered | undefined>
  /**
   * Sets the password, uses the secret up, ends every session of the account, removes its
   * passkeys, and forgets the addresses that it was signed in from. Undefined where the secret is
   * void by now.
   */
  setPassword(secretHash: string, passwordHash: string, now: number): Promise<Recovered | undefined>
  /** Of an agent that belongs to the account; undefined when it does not. */
  identifyOwner(accountId: string, agentId: string): Promise<Owner | undefined>
  /** Puts the agent into the account, unless it is in another. */
  attachAgent(identity: Identity, accountId: string): Promise<AttachAnswer>
  /** The agent stays, without an account. False when it is not the account's. */
  leaveAgent(accountId: string, agentId: string): Promise<boolean>
  /** With its sessions and all that is known of it; its agents stay, without an account. */
  deleteAccount(accountId: string): Promise<void>
}
