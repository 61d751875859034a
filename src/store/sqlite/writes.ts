/** The home's writing verbs. Each runs inside a transaction that its caller opens and commits. */
import type { DatabaseSync } from 'node:sqlite'
import type {
  AgentStatus,
  Birth,
  BirthAnswer,
  BirthCount,
  BirthLimits,
  Identity,
  MemoryWrite,
  ProfileAnswer,
  Refused,
  WriteAnswer,
} from '../port.ts'
import { dayOf } from '../port.ts'
import { type AgentRow, type MemoryRow, profileOf } from '../rows.ts'
import { prepare } from './connection.ts'
import { prepareGatewayWrites } from './gateway.ts'
import { type BirthRow, birthOf, prepareBirthCount, SELECT_BIRTH } from './reads.ts'
import { AGENT_COLUMNS, type CredentialRow, SELECT_CREDENTIAL } from './rows.ts'
import { prepareSessionWrites } from './sessions.ts'

const over = (count: BirthCount, { perAddress, inAll }: BirthLimits): boolean =>
  (perAddress > 0 && count.fromAddress >= perAddress) || (inAll > 0 && count.inAll >= inAll)

function prepareBirth(db: DatabaseSync) {
  const known = prepare<BirthRow>(db, SELECT_BIRTH)
  const countBirths = prepareBirthCount(db)
  const forgetAddresses = prepare(
    db,
    'UPDATE agents SET born_from = NULL WHERE born_from IS NOT NULL AND created_at <= ?',
  )
  const addAccount = prepare(
    db,
    'INSERT INTO accounts (id, email, password_hash, created_at) VALUES (?, ?, ?, ?) ON CONFLICT (email) DO NOTHING RETURNING id',
  )
  const addAgent = prepare(
    db,
    `INSERT INTO agents (id, name, purpose, symbol, status, account_id, birth_key_hash,
       birth_fingerprint, birth_salt, born_from, created_at, updated_at)
     VALUES (?, ?, ?, ?, 'active', ?, ?, ?, ?, ?, ?, ?)`,
  )
  const addCredential = prepare(
    db,
    'INSERT INTO credentials (token_hash, agent_id, kind) VALUES (?, ?, ?)',
  )

  /** The account's id; null without one; undefined when it exists already. */
  function accountId({ account }: Birth, now: number): string | null | undefined {
    if (!account) return null
    if ('join' in account) return account.join
    const { id, email, passwordHash } = account.create
    return addAccount.get(id, email, passwordHash, now) && id
  }

  function insert(birth: Birth, account: string | null, now: number): void {
    const { agentId, name, purpose, symbol, keyHash, fingerprint, salt, bornFrom } = birth
    addAgent.run(
      ...[agentId, name, purpose, symbol, account],
      ...[keyHash, fingerprint, salt, bornFrom, now, now],
    )
    addCredential.run(birth.agentTokenHash, agentId, 'agent')
    addCredential.run(birth.operatorTokenHash, agentId, 'operator')
  }

  return (birth: Birth, limits: BirthLimits, now: number): BirthAnswer => {
    const row = known.get(birth.keyHash)
    if (row) return { outcome: 'known', birth: birthOf(row) }
    const since = now - limits.windowMs
    const count = countBirths(birth.bornFrom, since)
    if (over(count, limits)) return { outcome: 'over_limit', count }
    const account = accountId(birth, now)
    if (account === undefined) return { outcome: 'account_exists' }
    forgetAddresses.run(since)
    insert(birth, account, now)
    return { outcome: 'born' }
  }
}

type Current = Pick<MemoryRow, 'id' | 'version' | 'created_at' | 'updated_at'>

function prepareMemoryWrite(db: DatabaseSync, admit: Admit) {
  const current = prepare<Current>(
    db,
    'SELECT id, version, created_at, updated_at FROM memories WHERE agent_id = ? AND key = ?',
  )
  const content = prepare<Pick<MemoryRow, 'text' | 'metadata'>>(
    db,
    'SELECT text, metadata FROM memories WHERE agent_id = ? AND key = ?',
  )
  const insert = prepare(
    db,
    `INSERT INTO memories (agent_id, key, id, text, metadata, version, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, 1, ?, ?)`,
  )
  const countOne = prepare(db, 'UPDATE agents SET memory_count = memory_count + 1 WHERE id = ?')
  const countWrite = prepare(
    db,
    `INSERT INTO daily_writes (agent_id, day, writes) VALUES (?, ?, 1)
     ON CONFLICT (agent_id, day) DO UPDATE SET writes = writes + 1`,
  )
  const update = prepare(
    db,
    `UPDATE memories SET text = ?, metadata = ?, version = ?, updated_at = ?
     WHERE agent_id = ? AND key = ?`,
  )

  function conflict(agentId: string, write: MemoryWrite, found: Current | undefined): WriteAnswer {
    const stored = found && content.get(agentId, write.key)
    return {
      outcome: 'conflict',
      currentVersion: found?.version ?? 0,
      updatedAt: found?.updated_at,
      sameContent: stored?.text === write.text && stored.metadata === write.metadata,
    }
  }

  function create(agentId: string, write: MemoryWrite, now: number): WriteAnswer {
    const { id, key, text, metadata } = write
    insert.run(agentId, key, id, text, metadata, now, now)
    countOne.run(agentId)
    const memory = { id, key, text, metadata, version: 1, createdAt: now, updatedAt: now }
    return { outcome: 'saved', memory }
  }

  function replace(
    agentId: string,
    { key, text, metadata }: MemoryWrite,
    found: Current,
    now: number,
  ): WriteAnswer {
    const version = found.version + 1
    // A clock that steps back must not make an update older than what it replaced.
    const updatedAt = Math.max(now, found.updated_at)
    update.run(text, metadata, version, updatedAt, agentId, key)
    const { id, created_at: createdAt } = found
    return { outcome: 'saved', memory: { id, key, text, metadata, version, createdAt, updatedAt } }
  }

  return (
    identity: Identity,
    write: MemoryWrite,
    maxMemories: number,
    now: number,
  ): WriteAnswer => {
    const admitted = admit(identity)
    if ('outcome' in admitted) return admitted
    const { agentId } = identity
    const found = current.get(agentId, write.key)
    if ((found?.version ?? 0) !== write.expectedVersion) return conflict(agentId, write, found)
    if (!found && maxMemories > 0 && admitted.memory_count >= maxMemories) {
      return { outcome: 'over_quota' }
    }
    countWrite.run(agentId, dayOf(now))
    return found ? replace(agentId, write, found, now) : create(agentId, write, now)
  }
}

type Admit = (identity: Identity) => CredentialRow | Refused

function prepareAdmit(db: DatabaseSync): Admit {
  const credential = prepare<CredentialRow>(db, SELECT_CREDENTIAL)
  return ({ tokenHash }) => {
    const row = credential.get(tokenHash)
    if (!row) return { outcome: 'revoked' }
    return row.kind === 'agent' && row.status === 'paused' ? { outcome: 'paused' } : row
  }
}

export function prepareWrites(db: DatabaseSync) {
  const admit = prepareAdmit(db)
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
  return {
    bear: prepareBirth(db),
    writeMemory: prepareMemoryWrite(db, admit),
    ...prepareSessionWrites(db, admit),
    ...prepareGatewayWrites(db),
    setStatus(identity: Identity, status: AgentStatus, now: number): ProfileAnswer {
      const row =
        'outcome' in admit(identity) ? undefined : changeStatus.get(status, now, identity.agentId)
      return row
        ? { outcome: 'profile', profile: profileOf(row), memoryCount: row.memory_count }
        : { outcome: 'revoked' }
    },
    rotateAgentToken(identity: Identity, newTokenHash: string) {
      if ('outcome' in admit(identity)) return { outcome: 'revoked' } as const
      dropAgentToken.run(identity.agentId)
      addAgentToken.run(newTokenHash, identity.agentId)
      markRotated.run(identity.agentId)
      return { outcome: 'rotated' } as const
    },
    checkWritable(now: number): void {
      beat.run(now)
    },
  }
}

export type Writes = ReturnType<typeof prepareWrites>
