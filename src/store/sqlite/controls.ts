/** What operators change of an agent as a whole: its status, its profile, and that it is. */
import type { DatabaseSync } from 'node:sqlite'
import { authorOf } from '../answers.ts'
import type { AgentStatus, Identity, ProfileAnswer, ProfileChange } from '../port/home.ts'
import { type AgentRow, profileAnswer } from '../rows.ts'
import { AGENT_COLUMNS } from './agents.ts'
import { prepare } from './engine/connection.ts'
import type { Tally } from './engine/totals.ts'
import type { Refuse } from './identities.ts'
import type { Happen } from './keeping/events.ts'
import { prepareHomes } from './keeping/homes.ts'
import { prepareFile } from './keeping/log.ts'

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

/** In the order in which they refer to each other. */
const ERASED = [
  'DELETE FROM memories WHERE agent_id = ?',
  'DELETE FROM log WHERE n IN (SELECT n FROM log_index WHERE agent_id = ?)',
  'DELETE FROM log_index WHERE agent_id = ?',
  'DELETE FROM staged_imports WHERE agent_id = ?',
  'DELETE FROM homes WHERE agent_id = ?',
  'DELETE FROM daily_writes WHERE agent_id = ?',
  'DELETE FROM daily_calls WHERE agent_id = ?',
  'DELETE FROM operator_replacements WHERE agent_id = ?',
  'DELETE FROM credentials WHERE agent_id = ?',
  // Births an hour are counted from the agents: to be born and erased in turn must not be free.
  'INSERT INTO erased_births SELECT born_from, created_at FROM agents WHERE id = ?',
  'DELETE FROM agents WHERE id = ?',
] as const

function prepareEraseAgent(db: DatabaseSync, refuse: Refuse, tally: Tally) {
  const homes = prepareHomes(db)
  const file = prepareFile(db)
  const steps = ERASED.map((sql) => prepare(db, sql))
  return (identity: Identity) => {
    if (refuse(identity)) return { outcome: 'revoked' } as const
    const { memories } = file(identity.agentId, homes.read(identity.agentId))
    for (const step of steps) step.run(identity.agentId)
    tally.erased(memories)
    return { outcome: 'erased' } as const
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
