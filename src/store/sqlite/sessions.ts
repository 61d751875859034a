/** The console's verbs: reads on the reader's connection, writes inside a caller's transaction. */
import type { DatabaseSync } from 'node:sqlite'
import type { Identity } from '../port/home.ts'
import {
  type ActivityAnswer,
  type AttachAnswer,
  type DayOfWrites,
  LOGGED_AGENTS,
  type NewSession,
  type OwnedAgent,
  type Page,
  SESSIONS_PER_ACCOUNT,
  type Session,
} from '../port/sessions.ts'
import {
  type AgentRow,
  ownedAgentOf,
  SELECT_SESSION,
  type SessionRow,
  type SummaryRow,
  sessionOf,
  summaryOf,
} from '../rows.ts'
import { prepareRememberAddress } from './addresses.ts'
import { AGENT_COLUMNS } from './agents.ts'
import { prepare } from './engine/connection.ts'
import type { Refuse } from './identities.ts'
import type { Happen } from './keeping/events.ts'

function prepareActivity(db: DatabaseSync) {
  const days = prepare<DayOfWrites>(
    db,
    `SELECT day, sum(writes) AS writes FROM (
       SELECT day, writes FROM daily_writes WHERE agent_id = ?1
       UNION ALL SELECT day, writes FROM homes WHERE agent_id = ?1 AND writes > 0
     ) WHERE day >= ?2 GROUP BY day ORDER BY day`,
  )
  const largest = prepare<SummaryRow>(
    db,
    `SELECT m.id, m.key, v.bytes, v.metadata, m.version, m.created_at, m.updated_at, m.change AS seq,
       NULL AS text
     FROM memories m JOIN log v ON v.n = m.n
     WHERE m.agent_id = ? AND m.deleted = 0 ORDER BY v.bytes DESC, m.key LIMIT ?`,
  )
  const total = prepare<{ bytes: number }>(
    db,
    `SELECT coalesce(sum(v.bytes), 0) AS bytes FROM memories m JOIN log v ON v.n = m.n
     WHERE m.agent_id = ? AND m.deleted = 0`,
  )
  return (agentId: string, sinceDay: number, limit: number): ActivityAnswer => ({
    outcome: 'activity',
    days: days.all(agentId, sinceDay).map(({ day, writes }) => ({ day, writes })),
    largest: largest.all(agentId, limit).map(summaryOf),
    totalBytes: total.get(agentId)?.bytes ?? 0,
  })
}

export function prepareSessionReads(db: DatabaseSync, refuse: Refuse) {
  const session = prepare<SessionRow>(
    db,
    `${SELECT_SESSION} WHERE s.token_hash = ? AND s.expires_at > ?`,
  )
  const sessions = prepare<SessionRow>(
    db,
    `${SELECT_SESSION} WHERE s.account_id = ? AND s.expires_at > ? ORDER BY s.created_at DESC, s.id DESC`,
  )
  const agents = prepare<AgentRow>(
    db,
    `SELECT ${AGENT_COLUMNS} FROM agents WHERE account_id = ? AND id > ? ORDER BY id LIMIT ?`,
  )
  const owner = prepare<Pick<Identity, 'tokenHash' | 'status'>>(
    db,
    `SELECT c.token_hash AS tokenHash, a.status FROM agents a
     JOIN credentials c ON c.agent_id = a.id AND c.kind = 'operator'
     WHERE a.id = ? AND a.account_id = ?`,
  )
  const activity = prepareActivity(db)
  return {
    findSession(tokenHash: string, now: number): Session | undefined {
      const row = session.get(tokenHash, now)
      return row && sessionOf(row)
    },
    listSessions: (accountId: string, now: number): Session[] =>
      sessions.all(accountId, now).map(sessionOf),
    listAgents: (accountId: string, { after = '', limit }: Page): OwnedAgent[] =>
      agents.all(accountId, after, limit).map(ownedAgentOf),
    identifyOwner(accountId: string, agentId: string): Identity | undefined {
      const row = owner.get(agentId, accountId)
      return row && { agentId, kind: 'operator', tokenHash: row.tokenHash, status: row.status }
    },
    readActivity: (identity: Identity, sinceDay: number, limit: number): ActivityAnswer =>
      refuse(identity) ?? activity(identity.agentId, sinceDay, limit),
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

export function prepareSessionWrites(db: DatabaseSync, refuse: Refuse, happen: Happen) {
  const signIn = prepareSignIn(db, happen)
  const forgetExpired = prepare(db, 'DELETE FROM sessions WHERE expires_at <= ?')
  const replaced = prepare(db, 'DELETE FROM sessions WHERE token_hash = ?')
  const add = prepare(
    db,
    `INSERT INTO sessions (token_hash, id, account_id, user_agent, created_at, seen_at, expires_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
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
    createSession(session: NewSession, replacedTokenHash: string | undefined, now: number): void {
      const { tokenHash, id, accountId, addressHash, userAgent, expiresAt } = session
      forgetExpired.run(now)
      if (replacedTokenHash !== undefined) replaced.run(replacedTokenHash)
      add.run(tokenHash, id, accountId, userAgent, now, now, expiresAt)
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
