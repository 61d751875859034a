/** What the web console asks of a store, besides the home's verbs. */

import type { ActivityStore } from './activity.ts'
import type { Account } from './home.ts'
import type { Identity } from './identity.ts'
import type { PasskeyStore } from './passkeys.ts'

/** A signed-in browser session. */
export interface Session {
  /** Identifies the session to its owner; not a credential. */
  readonly id: string
  readonly accountId: string
  readonly email: string
  /** The account may remove entries of the gateway. */
  readonly isAdmin: boolean
  /** The User-Agent at sign-in. */
  readonly userAgent: string
  /** The client's network at sign-in; may be empty. */
  readonly place: string
  readonly createdAt: number
  readonly seenAt: number
  readonly expiresAt: number
  /** When the user last gave a password or a passkey; 0 if unknown. */
  readonly confirmedAt: number
  /** Counts forms that may be submitted once: a form from before the last one is refused. */
  readonly turn: number
}

/** Sessions per account; one more ends the oldest. */
export const SESSIONS_PER_ACCOUNT = 20

/** Known sign-in addresses per account; the least recently seen is forgotten. */
export const ADDRESSES_PER_ACCOUNT = 20

/** Sign-ins that an account remembers; the oldest is forgotten. */
export const SIGN_INS_PER_ACCOUNT = 20

export interface NewSession {
  readonly id: string
  /** SHA-256 of the secret in the cookie, hex. */
  readonly tokenHash: string
  readonly accountId: string
  /** Hash of the client address and the account, hex; remembered. */
  readonly addressHash: string
  readonly userAgent: string
  readonly place: string
  readonly expiresAt: number
}

export interface SignIn extends Pick<Session, 'id' | 'userAgent' | 'place'> {
  readonly signedInAt: number
}

/** The owner of an agent, as its operator. */
export interface Owner {
  readonly identity: Identity
  /** The newest event of the home; 0 if there is none. */
  readonly lastEvent: number
}

/** The account whose password may be set, or was. */
export type Recovered = Pick<Account, 'id' | 'email'>

/** A password change. */
export interface PasswordChange {
  readonly accountId: string
  /** PHC strings. */
  readonly replaces: string
  readonly passwordHash: string
  /** The session and the address that it comes from. */
  readonly sessionId: string
  readonly addressHash: string
}

export type AttachAnswer =
  /** Also if the agent was already in the account. */
  | { readonly outcome: 'attached' }
  | { readonly outcome: 'attached_elsewhere' }
  | { readonly outcome: 'revoked' }

/** What the web console asks besides the home's verbs, which it calls as the operator. */
export interface SessionStore extends ActivityStore, PasskeyStore {
  /**
   * Stores the session, the sign-in and its address, ends the session that it replaces, the oldest
   * over `SESSIONS_PER_ACCOUNT`, and all expired ones.
   */
  createSession(
    session: NewSession,
    replacedTokenHash: string | undefined,
    now: number,
  ): Promise<void>
  /** Undefined: unknown, revoked or expired. */
  findSession(tokenHash: string, now: number): Promise<Session | undefined>
  /** A session that was revoked in the meantime stays revoked. */
  touchSession(sessionId: string, expiresAt: number, now: number): Promise<void>
  /** Newest first, without expired ones. */
  listSessions(accountId: string, now: number): Promise<readonly Session[]>
  /** Newest first, of sessions that have ended too. */
  listSignIns(accountId: string): Promise<readonly SignIn[]>
  /** False when the account has no such session. */
  revokeSession(accountId: string, sessionId: string): Promise<boolean>
  /** Ends every other session of the account. */
  endOtherSessions(accountId: string, sessionId: string): Promise<void>
  /** Records that the user has given a password or a passkey. */
  confirmSession(sessionId: string, now: number): Promise<void>
  /** False if the form was submitted before, or the session has ended. */
  takeTurn(sessionId: string, turn: number): Promise<boolean>
  /**
   * Ends all other sessions, invalidates a recovery link, and forgets other sign-in addresses.
   * Passkeys stay. False if the password was changed in the meantime.
   */
  changePassword(change: PasswordChange, now: number): Promise<boolean>
  /**
   * The account whose password may be set with the secret; undefined if it is unknown, used or
   * expired.
   */
  findRecovery(secretHash: string, now: number): Promise<Recovered | undefined>
  /**
   * Sets the password, uses up the secret, ends all sessions, and removes passkeys and sign-in
   * addresses. Undefined if the secret is no longer valid.
   */
  setPassword(secretHash: string, passwordHash: string, now: number): Promise<Recovered | undefined>
  /** Undefined if the agent is not in the account. */
  identifyOwner(accountId: string, agentId: string): Promise<Owner | undefined>
  /** Adds the agent to the account, unless it is in another. */
  attachAgent(identity: Identity, accountId: string): Promise<AttachAnswer>
  /** Removes the agent from the account. False if it was not in it. */
  leaveAgent(accountId: string, agentId: string): Promise<boolean>
  /** Deletes the account and its sessions; its agents stay, without an account. */
  deleteAccount(accountId: string): Promise<void>
}
