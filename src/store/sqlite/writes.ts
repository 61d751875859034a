/** The home's writing verbs. Each runs inside a transaction that its caller opens and commits. */
import type { DatabaseSync } from 'node:sqlite'
import type { AgentStatus, Identity, ProfileAnswer } from '../port/home.ts'
import { type AgentRow, profileOf } from '../rows.ts'
import { AGENT_COLUMNS, prepareBirth } from './agents.ts'
import { prepare } from './engine/connection.ts'
import { prepareGatewayWrites } from './entries.ts'
import { prepareIdentify, rememberIdentities } from './identities.ts'
import { prepareMemoryWrite } from './memories.ts'
import { prepareSessionWrites } from './sessions.ts'

export function prepareWrites(db: DatabaseSync) {
  const { remember, forget } = rememberIdentities()
  const { refuse } = prepareIdentify(db, remember)
  const { leaveEntry, fileArrived, forgetArrived } = prepareGatewayWrites(db)
  const changeStatus = prepare<AgentRow>(
    db,
    `UPDATE agents SET status = ?, updated_at = max(?, updated_at) WHERE id = ? RETURNING ${AGENT_COLUMNS}`,
  )
  const dropAgentToken = prepare(
    db,
    "DELETE FROM credentials WHERE agent_id = ? AND kind = 'agent'",
  )
  const addAgentToken = prepare(
    db,
    "INSERT INTO credentials (token_hash, agent_id, kind) VALUES (?, ?, 'agent')",
  )
  const markRotated = prepare(db, 'UPDATE agents SET rotated = 1 WHERE id = ?')
  const beat = prepare(
    db,
    'INSERT INTO heartbeat (id, written_at) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET written_at = excluded.written_at',
  )
  const verbs = {
    bear: prepareBirth(db),
    writeMemory: prepareMemoryWrite(db, refuse),
    ...prepareSessionWrites(db, refuse),
    leaveEntry,
    setStatus(identity: Identity, status: AgentStatus, now: number): ProfileAnswer {
      const row = refuse(identity) ? undefined : changeStatus.get(status, now, identity.agentId)
      forget()
      return row
        ? { outcome: 'profile', profile: profileOf(row), memoryCount: row.memory_count }
        : { outcome: 'revoked' }
    },
    rotateAgentToken(identity: Identity, newTokenHash: string) {
      if (refuse(identity)) return { outcome: 'revoked' } as const
      dropAgentToken.run(identity.agentId)
      addAgentToken.run(newTokenHash, identity.agentId)
      markRotated.run(identity.agentId)
      forget()
      return { outcome: 'rotated' } as const
    },
    checkWritable(now: number): void {
      beat.run(now)
    },
  }
  return {
    verbs,
    /** Called once for all verbs of a transaction, before its commit. */
    finish: fileArrived,
    /** Called after a rollback: what was remembered on the way may be untrue. */
    undone(): void {
      forget()
      forgetArrived()
    },
  }
}

export type Writes = ReturnType<typeof prepareWrites>
