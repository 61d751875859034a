/** The home's writing verbs. Each runs inside a transaction that its caller opens and commits. */
import type { DatabaseSync } from 'node:sqlite'
import type {
  AgentStatus,
  Birth,
  BirthAnswer,
  BirthCount,
  BirthLimits,
  Identity,
  Memory,
  MemoryWrite,
  ProfileAnswer,
  WriteAnswer,
} from '../port/home.ts'
import { dayOf } from '../port/sessions.ts'
import { type AgentRow, profileOf } from '../rows.ts'
import { prepare, prepareTuples } from './engine/connection.ts'
import { prepareGatewayWrites } from './entries.ts'
import { prepareIdentify, type Refuse, rememberIdentities } from './identities.ts'
import { type BirthRow, birthOf, prepareBirthCount, SELECT_BIRTH } from './reads.ts'
import { AGENT_COLUMNS } from './rows.ts'
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

/** A saved memory without what its writer already has. */
export type Receipt = Pick<Memory, 'id' | 'version' | 'createdAt' | 'updatedAt'>

export type WriteResult =
  | { readonly outcome: 'saved'; readonly receipt: Receipt }
  | Exclude<WriteAnswer, { outcome: 'saved' }>

type Current = [rowid: number, id: string, version: number, createdAt: number, updatedAt: number]

function prepareMemoryWrite(db: DatabaseSync, refuse: Refuse) {
  const current = prepareTuples<Current>(
    db,
    `SELECT rowid, id, version, created_at, updated_at
     FROM memories WHERE agent_id = ? AND key = ?`,
  )
  const content = prepareTuples<[text: string, metadata: string]>(
    db,
    'SELECT text, metadata FROM memories WHERE rowid = ?',
  )
  const memoryCount = prepareTuples<[number]>(db, 'SELECT memory_count FROM agents WHERE id = ?')
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
    'UPDATE memories SET text = ?, metadata = ?, version = ?, updated_at = ? WHERE rowid = ?',
  )

  function conflict({ text, metadata }: MemoryWrite, found: Current | undefined): WriteResult {
    if (!found) {
      return { outcome: 'conflict', currentVersion: 0, updatedAt: undefined, sameContent: false }
    }
    const [rowid, , currentVersion, , updatedAt] = found
    const stored = content.get(rowid)
    const sameContent = stored?.[0] === text && stored[1] === metadata
    return { outcome: 'conflict', currentVersion, updatedAt, sameContent }
  }

  function create(agentId: string, write: MemoryWrite, now: number): WriteResult {
    const { id, key, text, metadata } = write
    insert.run(agentId, key, id, text, metadata, now, now)
    countOne.run(agentId)
    return { outcome: 'saved', receipt: { id, version: 1, createdAt: now, updatedAt: now } }
  }

  function replace(
    { text, metadata }: MemoryWrite,
    [rowid, id, replaced, createdAt, earlier]: Current,
    now: number,
  ): WriteResult {
    const version = replaced + 1
    // A clock that steps back must not make an update older than what it replaced.
    const updatedAt = Math.max(now, earlier)
    update.run(text, metadata, version, updatedAt, rowid)
    return { outcome: 'saved', receipt: { id, version, createdAt, updatedAt } }
  }

  const full = (agentId: string, maxMemories: number): boolean =>
    maxMemories > 0 && (memoryCount.get(agentId)?.[0] ?? 0) >= maxMemories

  return (
    identity: Identity,
    write: MemoryWrite,
    maxMemories: number,
    now: number,
  ): WriteResult => {
    const refused = refuse(identity)
    if (refused) return refused
    const { agentId } = identity
    const found = current.get(agentId, write.key)
    if ((found?.[2] ?? 0) !== write.expectedVersion) return conflict(write, found)
    if (!found && full(agentId, maxMemories)) return { outcome: 'over_quota' }
    countWrite.run(agentId, dayOf(now))
    return found ? replace(write, found, now) : create(agentId, write, now)
  }
}

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
