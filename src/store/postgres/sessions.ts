/** The console's verbs. */
import type { AgentStatus, Author, Identity } from '../port/home.ts'
import type { MemorySummary } from '../port/keeping/memories.ts'
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
  type SessionStore,
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
import { rememberAddress } from './addresses.ts'
import { AGENT_COLUMNS } from './agents.ts'
import { type Connections, statement } from './engine/connections.ts'
import { ADMITTED, type AdmittedRow, MAY, refusedBy } from './identities.ts'
import { CURRENT, logFrom } from './keeping/log.ts'

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
  `INSERT INTO sessions (token_hash, id, account_id, user_agent, created_at, seen_at, expires_at)
   VALUES ($1, $2, $3, $4, $5, $5, $6)`,
)

/** Sessions that begin at once are counted one after the other. */
const lockAccount = statement<{ email: string }>(
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

const listAgents = statement<AgentRow>(
  'list_agents',
  `SELECT ${AGENT_COLUMNS} FROM agents WHERE account_id = $1 AND agent_id > $2
   ORDER BY agent_id LIMIT $3`,
)

const identifyOwner = statement<{ tokenHash: string; status: AgentStatus }>(
  'identify_owner',
  `SELECT c.token_hash AS "tokenHash", a.status FROM agents a
   JOIN credentials c ON c.agent_id = a.agent_id AND c.kind = 'operator'
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

/** Null where the reader may look and there is nothing. */
type FoundRow = AdmittedRow & (SummaryRow | { key: null })

const largestMemories = statement<FoundRow>(
  'largest_memories',
  `SELECT c.kind, c.status AS credential_status, m.id, m.key, v.bytes, v.metadata, m.version,
     m.created_at, m.updated_at, v.n AS seq, NULL AS text
   FROM credentials c
   LEFT JOIN memories m ON m.agent_id = c.agent_id AND NOT m.deleted ${CURRENT}
   WHERE c.agent_id = $1 AND c.token_hash = $2
   ORDER BY v.bytes DESC NULLS LAST, m.key LIMIT $3`,
)

const writesByDay = statement<DayOfWrites>(
  'writes_by_day',
  `SELECT day, sum(writes)::BIGINT AS writes FROM (
     SELECT day, writes FROM daily_writes WHERE agent_id = $1
     UNION ALL SELECT day, day_writes FROM homes WHERE agent_id = $1
   ) AS counted
   WHERE day >= $2 AND writes > 0 GROUP BY day ORDER BY day`,
)

const totalBytes = statement<{ bytes: number }>(
  'total_bytes',
  `SELECT coalesce(sum(v.bytes), 0)::BIGINT AS bytes
   FROM memories m ${CURRENT}
   WHERE m.agent_id = $1 AND NOT m.deleted`,
)

const summariesOf = (rows: readonly FoundRow[]): MemorySummary[] =>
  rows.flatMap((row) => (row.key === null ? [] : [summaryOf(row)]))

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
    const { tokenHash, id, accountId, addressHash, userAgent, expiresAt } = session
    await transact(async (ask) => {
      const [account] = await ask(lockAccount, accountId)
      await ask(forgetExpired, now)
      if (replaced !== undefined) await ask(forgetReplaced, replaced)
      await ask(addSession, tokenHash, id, accountId, userAgent, now, expiresAt)
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

const ownerVerbs = ({ read, write }: Connections, committed: () => void) => ({
  async listAgents(accountId: string, { after = '', limit }: Page): Promise<OwnedAgent[]> {
    return (await read(listAgents, accountId, after, limit)).map(ownedAgentOf)
  },
  async identifyOwner(accountId: string, agentId: string): Promise<Identity | undefined> {
    const [row] = await read(identifyOwner, agentId, accountId)
    return row && { agentId, kind: 'operator', ...row }
  },
  async attachAgent({ agentId, tokenHash }: Identity, accountId: string): Promise<AttachAnswer> {
    const [row] = await write(attachAgent, agentId, tokenHash, accountId)
    if (refusedBy(row)) return { outcome: 'revoked' }
    if (row?.attached) committed()
    return { outcome: row?.attached ? 'attached' : 'attached_elsewhere' }
  },
})

const browsingVerbs = ({ read }: Connections) => ({
  async readActivity(
    { agentId, tokenHash }: Identity,
    sinceDay: number,
    limit: number,
  ): Promise<ActivityAnswer> {
    const largest = await read(largestMemories, agentId, tokenHash, limit)
    const refused = refusedBy(largest[0])
    if (refused) return refused
    const days = await read(writesByDay, agentId, sinceDay)
    const [total] = await read(totalBytes, agentId)
    return {
      outcome: 'activity',
      days,
      largest: summariesOf(largest),
      totalBytes: total?.bytes ?? 0,
    }
  },
})

export const sessionVerbs = (
  connections: Connections,
  committed: () => void,
): Omit<SessionStore, 'findRecovery' | 'setPassword'> => ({
  ...signInVerbs(connections, committed),
  ...ownerVerbs(connections, committed),
  ...browsingVerbs(connections),
})
