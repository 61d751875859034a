/** What the console asks of agents and their accounts. */
import type { DatabaseSync } from 'node:sqlite'
import type { Identity } from '../port/home.ts'
import { type AttachAnswer, LOGGED_AGENTS, type Owner } from '../port/sessions.ts'
import { type OwnerRow, ownerOf } from '../session-rows.ts'
import type { LogSignIn } from '../verbs/sessions.ts'
import { ask, statement } from '../verbs/verb.ts'
import { prepare } from './engine/connection.ts'
import type { Refuse } from './identities.ts'
import type { Happen } from './keeping/events.ts'

export function prepareOwner(db: DatabaseSync) {
  const owner = prepare<OwnerRow>(
    db,
    `SELECT c.token_hash AS tokenHash, a.status,
       coalesce((SELECT last_event FROM homes h WHERE h.agent_id = a.id), 0) AS lastEvent
     FROM agents a JOIN credentials c ON c.agent_id = a.id AND c.kind = 'operator'
     WHERE a.id = ? AND a.account_id = ?`,
  )
  return (accountId: string, agentId: string): Owner | undefined => {
    const row = owner.get(agentId, accountId)
    return row && ownerOf(agentId, row)
  }
}

const agentsOf = statement<{ id: string }>(
  'agents_of_account',
  `SELECT id FROM agents WHERE account_id = $1 ORDER BY id LIMIT ${LOGGED_AGENTS}`,
)

export const logSignIn = (happen: Happen): LogSignIn =>
  function* (account, now) {
    for (const { id } of yield* ask(agentsOf, account.id)) {
      happen(id, 'sign_in', { as: 'operator', via: 'console', account: account.email }, now)
    }
  }

export function prepareMembership(db: DatabaseSync, refuse: Refuse) {
  const attach = prepare<{ id: string }>(
    db,
    `UPDATE agents SET account_id = ? WHERE id = ? AND (account_id IS NULL OR account_id = ?)
     RETURNING id`,
  )
  const leave = prepare<{ id: string }>(
    db,
    'UPDATE agents SET account_id = NULL WHERE account_id = ? AND id = ? RETURNING id',
  )
  return {
    attachAgent(identity: Identity, accountId: string): AttachAnswer {
      if (refuse(identity)) return { outcome: 'revoked' }
      const attached = attach.get(accountId, identity.agentId, accountId)
      return { outcome: attached ? 'attached' : 'attached_elsewhere' }
    },
    leaveAgent: (accountId: string, agentId: string): boolean =>
      leave.get(accountId, agentId) !== undefined,
  }
}
