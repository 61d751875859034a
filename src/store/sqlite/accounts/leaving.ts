/** Agents leave their account, one by one or because it is deleted. */
import type { DatabaseSync } from 'node:sqlite'
import { prepare } from '../engine/connection.ts'

export function prepareLeaving(db: DatabaseSync) {
  const leave = prepare<{ id: string }>(
    db,
    'UPDATE agents SET account_id = NULL WHERE account_id = ? AND id = ? RETURNING id',
  )
  const leaveAll = prepare(db, 'UPDATE agents SET account_id = NULL WHERE account_id = ?')
  const forgotten = ['account_recoveries', 'sessions', 'passkeys', 'sign_in_addresses'].map(
    (table) => prepare(db, `DELETE FROM ${table} WHERE account_id = ?`),
  )
  const drop = prepare(db, 'DELETE FROM accounts WHERE id = ?')
  return {
    leaveAgent: (accountId: string, agentId: string): boolean =>
      leave.get(accountId, agentId) !== undefined,
    deleteAccount(accountId: string): void {
      leaveAll.run(accountId)
      for (const forget of forgotten) forget.run(accountId)
      drop.run(accountId)
    },
  }
}
