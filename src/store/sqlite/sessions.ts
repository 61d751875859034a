/** The console's verbs: reads on the reader's connection, writes inside a caller's transaction. */
import type { DatabaseSync } from 'node:sqlite'
import type { Identity } from '../port/home.ts'
import {
  type AttachAnswer,
  LOGGED_AGENTS,
  type NewSession,
  type Owner,
  SESSIONS_PER_ACCOUNT,
  type Session,
} from '../port/sessions.ts'
import {
  type OwnerRow,
  ownerOf,
  SELECT_SESSION,
  type SessionRow,
  sessionOf,
} from '../session-rows.ts'
import { prepareRememberAddress } from './accounts/addresses.ts'
import { prepare } from './engine/connection.ts'
import type { Refuse } from './identities.ts'
import type { Happen } from './keeping/events.ts'

export function prepareSessionReads(db: DatabaseSync) {
  const session = prepare<SessionRow>(
    db,
    `${SELECT_SESSION} WHERE s.token_hash = ? AND s.expires_at > ?`,
  )
  const sessions = prepare<SessionRow>(
    db,
    `${SELECT_SESSION} WHERE s.account_id = ? AND s.expires_at > ? ORDER BY s.created_at DESC, s.id DESC`,
  )
  const owner = prepare<OwnerRow>(
    db,
    `SELECT c.token_hash AS tokenHash, a.status,
       coalesce((SELECT last_event FROM homes h WHERE h.agent_id = a.id), 0) AS lastEvent
     FROM agents a JOIN credentials c ON c.agent_id = a.id AND c.kind = 'operator'
     WHERE a.id = ? AND a.account_id = ?`,
  )
  return {
    findSession(tokenHash: string, now: number): Session | undefined {
      const row = session.get(tokenHash, now)
      return row && sessionOf(row)
    },
    listSessions: (accountId: string, now: number): Session[] =>
      sessions.all(accountId, now).map(sessionOf),
    identifyOwner(accountId: string, agentId: string): Owner | undefined {
      const row = owner.get(agentId, accountId)
      return row && ownerOf(agentId, row)
    },
  }
}

/** In the log of each of the account's agents, as far as that is bounded. */
function prepareSignIn(db: DatabaseSync, happen: Happen) {
  const agents = prepare<{ id: string; email: string }>(
    db,
    `SELECT g.id, a.email FROM agents g JOIN accounts a ON a.id = g.account_id
     WHERE g.account_id = ? ORDER BY g.id LIMIT ${LOGGED_AGENTS}`,
  )
  return (accountId: string, now: number): void => {
    for (const { id, email } of agents.all(accountId)) {
      happen(id, 'sign_in', { as: 'operator', via: 'console', account: email }, now)
    }
  }
}

function prepareConfirming(db: DatabaseSync) {
  const endOthers = prepare(db, 'DELETE FROM sessions WHERE account_id = ? AND id <> ?')
  const confirm = prepare(db, 'UPDATE sessions SET confirmed_at = ? WHERE id = ?')
  const turn = prepare<{ id: string }>(
    db,
    'UPDATE sessions SET turn = turn + 1 WHERE id = ? AND turn = ? RETURNING id',
  )
  return {
    endOtherSessions(accountId: string, sessionId: string): void {
      endOthers.run(accountId, sessionId)
    },
    confirmSession(sessionId: string, now: number): void {
      confirm.run(now, sessionId)
    },
    takeTurn: (sessionId: string, taken: number): boolean =>
      turn.get(sessionId, taken) !== undefined,
  }
}

export function prepareSessionWrites(db: DatabaseSync, refuse: Refuse, happen: Happen) {
  const signIn = prepareSignIn(db, happen)
  const forgetExpired = prepare(db, 'DELETE FROM sessions WHERE expires_at <= ?')
  const replaced = prepare(db, 'DELETE FROM sessions WHERE token_hash = ?')
  const add = prepare(
    db,
    `INSERT INTO sessions (token_hash, id, account_id, user_agent, place, created_at, seen_at,
       expires_at, confirmed_at)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, ?7, ?6)`,
  )
  const endOldest = prepare(
    db,
    `DELETE FROM sessions WHERE account_id = ?1 AND token_hash NOT IN (
       SELECT token_hash FROM sessions WHERE account_id = ?1
       ORDER BY created_at DESC, id DESC LIMIT ${SESSIONS_PER_ACCOUNT})`,
  )
  const remember = prepareRememberAddress(db)
  const touch = prepare(db, 'UPDATE sessions SET seen_at = ?, expires_at = ? WHERE id = ?')
  const revoke = prepare<{ id: string }>(
    db,
    'DELETE FROM sessions WHERE account_id = ? AND id = ? RETURNING id',
  )
  const attach = prepare<{ id: string }>(
    db,
    `UPDATE agents SET account_id = ? WHERE id = ? AND (account_id IS NULL OR account_id = ?)
     RETURNING id`,
  )
  return {
    ...prepareConfirming(db),
    createSession(session: NewSession, replacedTokenHash: string | undefined, now: number): void {
      const { tokenHash, id, accountId, addressHash, userAgent, place, expiresAt } = session
      forgetExpired.run(now)
      if (replacedTokenHash !== undefined) replaced.run(replacedTokenHash)
      add.run(tokenHash, id, accountId, userAgent, place, now, expiresAt)
      endOldest.run(accountId)
      remember(accountId, addressHash, now)
      signIn(accountId, now)
    },
    touchSession(sessionId: string, expiresAt: number, now: number): void {
      touch.run(now, expiresAt, sessionId)
    },
    revokeSession: (accountId: string, sessionId: string): boolean =>
      revoke.get(accountId, sessionId) !== undefined,
    attachAgent(identity: Identity, accountId: string): AttachAnswer {
      if (refuse(identity)) return { outcome: 'revoked' }
      const attached = attach.get(accountId, identity.agentId, accountId)
      return { outcome: attached ? 'attached' : 'attached_elsewhere' }
    },
  }
}
