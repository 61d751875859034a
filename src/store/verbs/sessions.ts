/** Console sessions, and the agents of their accounts. */
import type { AgentStatus, Identity } from '../port/identity.ts'
import {
  type AttachAnswer,
  type NewSession,
  type Owner,
  SESSIONS_PER_ACCOUNT,
  type Session,
  SIGN_INS_PER_ACCOUNT,
  type SignIn,
} from '../port/sessions.ts'
import { endOtherSessions, holdAccount, lockAccount, rememberAddress } from './accounts.ts'
import { takeControl } from './controls.ts'
import { ask, statement, sweep, type Verb } from './verb.ts'

const SELECT = `
  SELECT s.id, s.account_id AS "accountId", a.email, a.admin AS "isAdmin", s.user_agent AS "userAgent", s.place,
    s.created_at AS "createdAt", s.seen_at AS "seenAt", s.expires_at AS "expiresAt",
    s.confirmed_at AS "confirmedAt", s.turn
  FROM sessions s JOIN accounts a ON a.id = s.account_id`

type SessionRow = Omit<Session, 'isAdmin'> & { readonly isAdmin: boolean | number }

const sessionOf = (row: SessionRow): Session => ({ ...row, isAdmin: Boolean(row.isAdmin) })

const find = statement<SessionRow>(`${SELECT} WHERE s.token_hash = $1 AND s.expires_at > $2`)

const list = statement<SessionRow>(
  `${SELECT} WHERE s.account_id = $1 AND s.expires_at > $2 ORDER BY s.created_at DESC, s.id DESC`,
)

const endExpired = sweep('sessions', 'token_hash')

const endReplaced = statement('DELETE FROM sessions WHERE token_hash = $1')

const add = statement(`
  INSERT INTO sessions (token_hash, id, account_id, user_agent, place, created_at, seen_at,
    expires_at, confirmed_at)
  VALUES ($1, $2, $3, $4, $5, $6, $6, $7, $6)`)

const endOldest = statement(`
  DELETE FROM sessions WHERE account_id = $1 AND token_hash NOT IN (
    SELECT token_hash FROM sessions WHERE account_id = $1
    ORDER BY created_at DESC, id DESC LIMIT ${SESSIONS_PER_ACCOUNT})`)

const touch = statement('UPDATE sessions SET seen_at = $1, expires_at = $2 WHERE id = $3')

const revoke = statement<{ id: string }>(
  'DELETE FROM sessions WHERE account_id = $1 AND id = $2 RETURNING id',
)

const confirm = statement('UPDATE sessions SET confirmed_at = $1 WHERE id = $2')

const takeTurn = statement<{ id: string }>(
  'UPDATE sessions SET turn = turn + 1 WHERE id = $1 AND turn = $2 RETURNING id',
)

const recordSignIn = statement(
  'INSERT INTO sign_ins (id, account_id, signed_in_at, user_agent, place) VALUES ($1, $2, $3, $4, $5)',
)

const forgetSignIns = statement(`
  DELETE FROM sign_ins WHERE account_id = $1 AND id NOT IN (
    SELECT id FROM sign_ins WHERE account_id = $1
    ORDER BY signed_in_at DESC, id DESC LIMIT ${SIGN_INS_PER_ACCOUNT})`)

const listSignIns = statement<SignIn>(`
  SELECT id, user_agent AS "userAgent", place, signed_in_at AS "signedInAt" FROM sign_ins
  WHERE account_id = $1 ORDER BY signed_in_at DESC, id DESC`)

interface OwnerRow {
  tokenHash: string
  status: AgentStatus
  lastEvent: number
}

const findOwner = statement<OwnerRow>(`
  SELECT c.token_hash AS "tokenHash", a.status,
    coalesce((SELECT last_event FROM homes h WHERE h.agent_id = $1), 0) AS "lastEvent"
  FROM agents a JOIN credentials c ON c.agent_id = a.agent_id AND c.kind = 'operator'
  WHERE a.agent_id = $1 AND a.account_id = $2`)

const attach = statement<{ agent_id: string }>(`
  UPDATE agents SET account_id = $2
  WHERE agent_id = $1 AND (account_id IS NULL OR account_id = $2) RETURNING agent_id`)

const leave = statement<{ agent_id: string }>(
  'UPDATE agents SET account_id = NULL WHERE account_id = $1 AND agent_id = $2 RETURNING agent_id',
)

export const sessionReads = {
  *findSession(tokenHash: string, now: number): Verb<Session | undefined> {
    const [session] = yield* ask(find, tokenHash, now)
    return session && sessionOf(session)
  },

  *listSessions(accountId: string, now: number): Verb<readonly Session[]> {
    return (yield* ask(list, accountId, now)).map(sessionOf)
  },

  listSignIns: (accountId: string): Verb<readonly SignIn[]> => ask(listSignIns, accountId),

  *identifyOwner(accountId: string, agentId: string): Verb<Owner | undefined> {
    const [row] = yield* ask(findOwner, agentId, accountId)
    if (!row) return undefined
    const { tokenHash, status, lastEvent } = row
    return { identity: { agentId, kind: 'operator', tokenHash, status }, lastEvent }
  },
}

export const sessionWrites = {
  *createSession(
    { tokenHash, id, accountId, addressHash, userAgent, place, expiresAt }: NewSession,
    replacedTokenHash: string | undefined,
    now: number,
  ): Verb<void> {
    yield* ask(lockAccount, accountId)
    yield* ask(endExpired, now)
    if (replacedTokenHash !== undefined) yield* ask(endReplaced, replacedTokenHash)
    yield* ask(add, tokenHash, id, accountId, userAgent, place, now, expiresAt)
    yield* ask(endOldest, accountId)
    yield* ask(recordSignIn, id, accountId, now, userAgent, place)
    yield* ask(forgetSignIns, accountId)
    yield* rememberAddress(accountId, addressHash, now)
  },

  *touchSession(sessionId: string, expiresAt: number, now: number): Verb<void> {
    yield* ask(touch, now, expiresAt, sessionId)
  },

  *revokeSession(accountId: string, sessionId: string): Verb<boolean> {
    return (yield* ask(revoke, accountId, sessionId)).length > 0
  },

  *endOtherSessions(accountId: string, sessionId: string): Verb<void> {
    yield* ask(endOtherSessions, accountId, sessionId)
  },

  *confirmSession(sessionId: string, now: number): Verb<void> {
    yield* ask(confirm, now, sessionId)
  },

  *takeTurn(sessionId: string, turn: number): Verb<boolean> {
    return (yield* ask(takeTurn, sessionId, turn)).length > 0
  },

  /** Adds the agent to the account, unless it is in another. */
  *attachAgent(identity: Identity, accountId: string): Verb<AttachAnswer> {
    if (yield* takeControl(identity)) return { outcome: 'revoked' }
    yield* holdAccount(accountId)
    const [attached] = yield* ask(attach, identity.agentId, accountId)
    return { outcome: attached ? 'attached' : 'attached_elsewhere' }
  },

  *leaveAgent(accountId: string, agentId: string): Verb<boolean> {
    return (yield* ask(leave, accountId, agentId)).length > 0
  },
}
