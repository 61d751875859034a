/** The console's verbs. */
import type { PasskeyStore } from '../port/accounts/passkeys.ts'
import type { Author, Identity } from '../port/home.ts'
import {
  type AttachAnswer,
  LOGGED_AGENTS,
  type NewSession,
  type Owner,
  SESSIONS_PER_ACCOUNT,
  type Session,
  type SessionStore,
} from '../port/sessions.ts'
import {
  type OwnerRow,
  ownerOf,
  SELECT_SESSION,
  type SessionRow,
  sessionOf,
} from '../session-rows.ts'
import { rememberAddress } from './accounts/addresses.ts'
import { activityVerbs } from './activity.ts'
import { type Connections, statement } from './engine/connections.ts'
import { ADMITTED, type AdmittedRow, MAY, refusedBy } from './identities.ts'
import { logFrom } from './keeping/log.ts'

const findSession = statement<SessionRow>(
  'find_session',
  `${SELECT_SESSION} WHERE s.token_hash = $1 AND s.expires_at > $2`,
)

const listSessions = statement<SessionRow>(
  'list_sessions',
  `${SELECT_SESSION} WHERE s.account_id = $1 AND s.expires_at > $2
   ORDER BY s.created_at DESC, s.id DESC`,
)

const forgetExpired = statement('forget_expired', 'DELETE FROM sessions WHERE expires_at <= $1')

const forgetReplaced = statement('forget_replaced', 'DELETE FROM sessions WHERE token_hash = $1')

const addSession = statement(
  'add_session',
  `INSERT INTO sessions (token_hash, id, account_id, user_agent, place, created_at, seen_at,
     expires_at, confirmed_at)
   VALUES ($1, $2, $3, $4, $5, $6, $6, $7, $6)`,
)

/** Sessions that begin at once are counted one after the other. */
export const lockAccount = statement<{ email: string }>(
  'lock_account',
  'SELECT email FROM accounts WHERE id = $1 FOR UPDATE',
)

const endOldest = statement(
  'end_oldest_sessions',
  `DELETE FROM sessions WHERE account_id = $1 AND token_hash NOT IN (
     SELECT token_hash FROM sessions WHERE account_id = $1
     ORDER BY created_at DESC, id DESC LIMIT ${SESSIONS_PER_ACCOUNT})`,
)

const touchSession = statement<{ id: string }>(
  'touch_session',
  'UPDATE sessions SET seen_at = $1, expires_at = $2 WHERE id = $3 RETURNING id',
)

const revokeSession = statement<{ id: string }>(
  'revoke_session',
  'DELETE FROM sessions WHERE account_id = $1 AND id = $2 RETURNING id',
)

export const endOthers = statement<{ id: string }>(
  'end_other_sessions',
  'DELETE FROM sessions WHERE account_id = $1 AND id <> $2 RETURNING id',
)

const confirmSession = statement<{ id: string }>(
  'confirm_session',
  'UPDATE sessions SET confirmed_at = $1 WHERE id = $2 RETURNING id',
)

const takeTurn = statement<{ id: string }>(
  'take_turn',
  'UPDATE sessions SET turn = turn + 1 WHERE id = $1 AND turn = $2 RETURNING id',
)

const identifyOwner = statement<OwnerRow>(
  'identify_owner',
  `SELECT c.token_hash AS "tokenHash", a.status,
     coalesce((SELECT last_event FROM homes h WHERE h.agent_id = a.agent_id), 0) AS "lastEvent"
   FROM agents a JOIN credentials c ON c.agent_id = a.agent_id AND c.kind = 'operator'
   WHERE a.agent_id = $1 AND a.account_id = $2`,
)

const attachAgent = statement<AdmittedRow & { attached: boolean }>(
  'attach_agent',
  `WITH ${ADMITTED},
   attached AS (
     UPDATE agents SET account_id = $3
     WHERE agent_id = $1 AND (account_id IS NULL OR account_id = $3)
       AND ${MAY}
     RETURNING agent_id
   )
   SELECT kind, status AS credential_status, EXISTS (SELECT 1 FROM attached) AS attached
   FROM admitted`,
)

/** Of one account at a time: it is locked. */
const logSignIn = statement(
  'log_sign_in',
  `WITH numbered AS (
     UPDATE homes SET last_event = last_event + 1 WHERE agent_id IN (
       SELECT agent_id FROM agents WHERE account_id = $1 ORDER BY agent_id LIMIT ${LOGGED_AGENTS}
     )
     RETURNING agent_id, last_event
   )
   ${logFrom('numbered', { type: "'sign_in'", author: '$2', now: '$3' })}`,
)

const signInVerbs = ({ read, write, transact }: Connections, committed: () => void) => ({
  async createSession(session: NewSession, replaced: string | undefined, now: number) {
    const { tokenHash, id, accountId, addressHash, userAgent, place, expiresAt } = session
    await transact(async (ask) => {
      const [account] = await ask(lockAccount, accountId)
      await ask(forgetExpired, now)
      if (replaced !== undefined) await ask(forgetReplaced, replaced)
      await ask(addSession, tokenHash, id, accountId, userAgent, place, now, expiresAt)
      await ask(endOldest, accountId)
      await rememberAddress(ask, accountId, addressHash, now)
      const by: Author = { as: 'operator', via: 'console', account: account?.email ?? '' }
      await ask(logSignIn, accountId, JSON.stringify(by), now)
    })
    committed()
  },
  async findSession(tokenHash: string, now: number): Promise<Session | undefined> {
    const [found] = await read(findSession, tokenHash, now)
    return found && sessionOf(found)
  },
  async listSessions(accountId: string, now: number): Promise<Session[]> {
    return (await read(listSessions, accountId, now)).map(sessionOf)
  },
  async touchSession(sessionId: string, expiresAt: number, now: number): Promise<void> {
    const touched = await write(touchSession, now, expiresAt, sessionId)
    if (touched.length > 0) committed()
  },
  async revokeSession(accountId: string, sessionId: string): Promise<boolean> {
    const revoked = await write(revokeSession, accountId, sessionId)
    if (revoked.length > 0) committed()
    return revoked.length > 0
  },
})

const confirmingVerbs = ({ write }: Connections, committed: () => void) => {
  const changed = (rows: readonly unknown[]): boolean => {
    if (rows.length > 0) committed()
    return rows.length > 0
  }
  return {
    async endOtherSessions(accountId: string, sessionId: string): Promise<void> {
      changed(await write(endOthers, accountId, sessionId))
    },
    async confirmSession(sessionId: string, now: number): Promise<void> {
      changed(await write(confirmSession, now, sessionId))
    },
    takeTurn: async (sessionId: string, turn: number): Promise<boolean> =>
      changed(await write(takeTurn, sessionId, turn)),
  }
}

const ownerVerbs = ({ read, write }: Connections, committed: () => void) => ({
  async identifyOwner(accountId: string, agentId: string): Promise<Owner | undefined> {
    const [row] = await read(identifyOwner, agentId, accountId)
    return row && ownerOf(agentId, row)
  },
  async attachAgent({ agentId, tokenHash }: Identity, accountId: string): Promise<AttachAnswer> {
    const [row] = await write(attachAgent, agentId, tokenHash, accountId)
    if (refusedBy(row)) return { outcome: 'revoked' }
    if (row?.attached) committed()
    return { outcome: row?.attached ? 'attached' : 'attached_elsewhere' }
  },
})

type Elsewhere =
  | keyof PasskeyStore
  | 'findRecovery'
  | 'setPassword'
  | 'changePassword'
  | 'leaveAgent'
  | 'deleteAccount'

export const sessionVerbs = (
  connections: Connections,
  committed: () => void,
): Omit<SessionStore, Elsewhere> => ({
  ...signInVerbs(connections, committed),
  ...confirmingVerbs(connections, committed),
  ...ownerVerbs(connections, committed),
  ...activityVerbs(connections),
})
