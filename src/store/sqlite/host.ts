/** What the host's owner does to an agent, without any credential of it. */
import type { DatabaseSync } from 'node:sqlite'
import { BY_HOST } from '../answers.ts'
import type { ResetAnswer } from '../port/host.ts'
import { prepare } from './engine/connection.ts'
import type { Happen } from './keeping/events.ts'

function prepareReset(db: DatabaseSync, happen: Happen) {
  const replace = prepare<{ agent_id: string }>(
    db,
    `UPDATE credentials SET token_hash = ? WHERE agent_id = ? AND kind = 'operator'
     RETURNING agent_id`,
  )
  const forget = prepare(db, 'DELETE FROM operator_replacements WHERE agent_id = ?')
  const leaveAccount = prepare(db, 'UPDATE agents SET rotated = 1, account_id = NULL WHERE id = ?')
  return (agentId: string, tokenHash: string, now: number): ResetAnswer => {
    if (!replace.get(tokenHash, agentId)) return { outcome: 'missing' }
    forget.run(agentId)
    leaveAccount.run(agentId)
    happen(agentId, 'replace_operator_key', BY_HOST, now)
    return { outcome: 'replaced' }
  }
}

export const prepareHostWrites = (db: DatabaseSync, happen: Happen) => ({
  resetOperatorToken: prepareReset(db, happen),
})
