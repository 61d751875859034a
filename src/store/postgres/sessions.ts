/** What the console asks of agents and their accounts. */
import type { Author, Identity } from '../port/home.ts'
import { type AttachAnswer, LOGGED_AGENTS, type Owner } from '../port/sessions.ts'
import { type OwnerRow, ownerOf } from '../session-rows.ts'
import type { LogSignIn } from '../verbs/sessions.ts'
import { ask, statement } from '../verbs/verb.ts'
import type { Connections } from './engine/connections.ts'
import { ADMITTED, type AdmittedRow, MAY, refusedBy } from './identities.ts'
import { logFrom } from './keeping/log.ts'

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
const logSignIns = statement(
  'log_sign_in',
  `WITH numbered AS (
     UPDATE homes SET last_event = last_event + 1 WHERE agent_id IN (
       SELECT agent_id FROM agents WHERE account_id = $1 ORDER BY agent_id LIMIT ${LOGGED_AGENTS}
     )
     RETURNING agent_id, last_event
   )
   ${logFrom('numbered', { type: "'sign_in'", author: '$2', now: '$3' })}`,
)

export const logSignIn: LogSignIn = function* ({ id, email }, now) {
  const by: Author = { as: 'operator', via: 'console', account: email }
  yield* ask(logSignIns, id, JSON.stringify(by), now)
}

const leave = statement<{ agent_id: string }>(
  'leave_account',
  'UPDATE agents SET account_id = NULL WHERE account_id = $1 AND agent_id = $2 RETURNING agent_id',
)

export const ownerVerbs = ({ read, write }: Connections, committed: () => void) => ({
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
  async leaveAgent(accountId: string, agentId: string): Promise<boolean> {
    const left = await write(leave, accountId, agentId)
    if (left.length > 0) committed()
    return left.length > 0
  },
})
