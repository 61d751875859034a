/** The home's reading verbs, on a connection of their own beside the writer's. */
import type { DatabaseSync } from 'node:sqlite'
import type { Account, BirthRecord, Identity, ProfileAnswer } from '../port/home.ts'
import { type AgentRow, profileOf } from '../rows.ts'
import { AGENT_COLUMNS, type BirthRow, birthOf, prepareBirthCount, SELECT_BIRTH } from './agents.ts'
import { prepare } from './engine/connection.ts'
import { prepareGatewayReads } from './entries.ts'
import { prepareIdentify, type Remember } from './identities.ts'
import { prepareReadMemory } from './memories.ts'
import { prepareSessionReads } from './sessions.ts'

export function prepareReads(db: DatabaseSync, remember: Remember = (lookUp) => lookUp) {
  const { identify, refuse } = prepareIdentify(db, remember)
  const birth = prepare<BirthRow>(db, SELECT_BIRTH)
  const account = prepare<{ id: string; email: string; password_hash: string }>(
    db,
    'SELECT id, email, password_hash FROM accounts WHERE email = ?',
  )
  const agent = prepare<AgentRow>(db, `SELECT ${AGENT_COLUMNS} FROM agents WHERE id = ?`)
  const totals = prepare<{ agents: number; memories: number }>(
    db,
    'SELECT count(*) AS agents, coalesce(sum(memory_count), 0) AS memories FROM agents',
  )
  return {
    ...prepareSessionReads(db, refuse),
    ...prepareGatewayReads(db),
    countBirths: prepareBirthCount(db),
    identify,
    findBirth(keyHash: string): BirthRecord | undefined {
      const row = birth.get(keyHash)
      return row && birthOf(row)
    },
    findAccount(email: string): Account | undefined {
      const row = account.get(email)
      return row && { id: row.id, email: row.email, passwordHash: row.password_hash }
    },
    refuse,
    readProfile({ agentId, tokenHash }: Identity): ProfileAnswer {
      const row = identify(tokenHash) && agent.get(agentId)
      return row
        ? { outcome: 'profile', profile: profileOf(row), memoryCount: row.memory_count }
        : { outcome: 'revoked' }
    },
    readMemory: prepareReadMemory(db, refuse),
    totals: () => totals.get() ?? { agents: 0, memories: 0 },
  }
}

export type Reads = ReturnType<typeof prepareReads>
