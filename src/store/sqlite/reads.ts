/** The home's reading verbs, on a connection of their own beside the writer's. */
import type { DatabaseSync } from 'node:sqlite'
import type {
  Account,
  BirthCount,
  BirthRecord,
  Identity,
  ProfileAnswer,
  ReadAnswer,
} from '../port/home.ts'
import { type AgentRow, profileOf } from '../rows.ts'
import { prepare, prepareTuples } from './engine/connection.ts'
import { prepareGatewayReads } from './entries.ts'
import { prepareIdentify, type Refuse, type Remember } from './identities.ts'
import { AGENT_COLUMNS } from './rows.ts'
import { prepareSessionReads } from './sessions.ts'

export interface BirthRow {
  id: string
  birth_fingerprint: string
  birth_salt: string
  rotated: number
}

export const SELECT_BIRTH =
  'SELECT id, birth_fingerprint, birth_salt, rotated FROM agents WHERE birth_key_hash = ?'

export const birthOf = (row: BirthRow): BirthRecord => ({
  agentId: row.id,
  fingerprint: row.birth_fingerprint,
  salt: row.birth_salt,
  rotated: row.rotated === 1,
})

interface CountRow {
  births: number
  oldest: number | null
}

/** Also used inside the writing transaction, on the writer's connection. */
export function prepareBirthCount(db: DatabaseSync) {
  const fromAddress = prepare<CountRow>(
    db,
    'SELECT count(*) AS births, min(created_at) AS oldest FROM agents WHERE born_from = ? AND created_at > ?',
  )
  const inAll = prepare<CountRow>(
    db,
    'SELECT count(*) AS births, min(created_at) AS oldest FROM agents WHERE created_at > ?',
  )
  return (bornFrom: string, since: number): BirthCount => {
    const here = fromAddress.get(bornFrom, since)
    const all = inAll.get(since)
    return {
      fromAddress: here?.births ?? 0,
      inAll: all?.births ?? 0,
      oldestFromAddress: here?.oldest ?? undefined,
      oldestInAll: all?.oldest ?? undefined,
    }
  }
}

type MemoryTuple = [
  id: string,
  text: string,
  metadata: string,
  version: number,
  createdAt: number,
  updatedAt: number,
]

function prepareReadMemory(db: DatabaseSync, refuse: Refuse) {
  const memory = prepareTuples<MemoryTuple>(
    db,
    `SELECT id, text, metadata, version, created_at, updated_at
     FROM memories WHERE agent_id = ? AND key = ?`,
  )
  return (identity: Identity, key: string): ReadAnswer => {
    const refused = refuse(identity)
    if (refused) return refused
    const row = memory.get(identity.agentId, key)
    if (!row) return { outcome: 'missing' }
    const [id, text, metadata, version, createdAt, updatedAt] = row
    const found = { id, key, text, metadata, version, createdAt, updatedAt }
    return { outcome: 'found', memory: found }
  }
}

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
