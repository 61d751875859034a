/** What operators change of an agent as a whole: its status, its profile, and that it is. */
import type { DatabaseSync } from 'node:sqlite'
import { authorOf } from '../answers.ts'
import type { AgentStatus, Identity, ProfileAnswer, ProfileChange } from '../port/home.ts'
import { type AgentRow, profileAnswer } from '../rows.ts'
import { AGENT_COLUMNS } from './agents.ts'
import { prepare } from './engine/connection.ts'
import type { Tally } from './engine/totals.ts'
import { prepareEraseAgent } from './erase-agent.ts'
import type { Refuse } from './identities.ts'
import type { Happen } from './keeping/events.ts'

function prepareStatus(db: DatabaseSync, refuse: Refuse, happen: Happen) {
  const status = prepare<{ status: AgentStatus }>(db, 'SELECT status FROM agents WHERE id = ?')
  const changeStatus = prepare<AgentRow>(
    db,
    `UPDATE agents SET status = ?, updated_at = max(?, updated_at) WHERE id = ? RETURNING ${AGENT_COLUMNS}`,
  )
  return (identity: Identity, next: AgentStatus, now: number): ProfileAnswer => {
    if (refuse(identity)) return { outcome: 'revoked' }
    const { agentId } = identity
    const before = status.get(agentId)?.status
    const row = changeStatus.get(next, now, agentId)
    const type = next === 'paused' ? 'pause' : 'resume'
    if (before !== next) happen(agentId, type, authorOf(identity), now)
    return profileAnswer(row)
  }
}

function prepareProfileChange(db: DatabaseSync, refuse: Refuse, happen: Happen) {
  const agent = prepare<AgentRow>(db, `SELECT ${AGENT_COLUMNS} FROM agents WHERE id = ?`)
  const change = prepare<AgentRow>(
    db,
    `UPDATE agents SET name = ?1, purpose = ?2, symbol = ?3, updated_at = max(?4, updated_at)
     WHERE id = ?5 AND (name, purpose, symbol) <> (?1, ?2, ?3) RETURNING ${AGENT_COLUMNS}`,
  )
  return (identity: Identity, sent: ProfileChange, now: number): ProfileAnswer => {
    const { agentId } = identity
    const before = refuse(identity) ? undefined : agent.get(agentId)
    if (!before) return { outcome: 'revoked' }
    const { name = before.name, purpose = before.purpose, symbol = before.symbol } = sent
    const row = change.get(name, purpose, symbol, now, agentId)
    if (row) happen(agentId, 'profile', authorOf(identity), now)
    return profileAnswer(row ?? before)
  }
}

export const prepareControls = (
  db: DatabaseSync,
  refuse: Refuse,
  tally: Tally,
  happen: Happen,
) => ({
  setStatus: prepareStatus(db, refuse, happen),
  changeProfile: prepareProfileChange(db, refuse, happen),
  eraseAgent: prepareEraseAgent(db, refuse, tally),
})
