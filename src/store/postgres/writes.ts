/**
 * The home's writing verbs: one statement each, so that one round trip decides and commits.
 *
 * The credential is locked against change until the commit (FOR SHARE): a token that was revoked,
 * or whose agent was paused, before a write is committed does not write. A row that another
 * statement changed meanwhile is looked at again by the server before it is changed, which makes
 * `version = …` a compare-and-swap and `memory_count < …` a quota.
 */
import type {
  AgentStatus,
  Identity,
  Memory,
  MemoryWrite,
  ProfileAnswer,
  Refused,
  WriteAnswer,
} from '../port/home.ts'
import { dayOf } from '../port/sessions.ts'
import { type AgentRow, profileOf } from '../rows.ts'
import { type Ask, type Connections, statement } from './engine/connections.ts'
import { isDuplicate } from './engine/faults.ts'
import type { HomeReads } from './reads.ts'
import { type AdmittedRow, AGENT_COLUMNS, refusedBy } from './rows.ts'

const ADMITTED = `
  admitted AS (
    SELECT kind, status FROM credentials WHERE agent_id = $1 AND token_hash = $2 FOR SHARE
  )`

const MAY = `EXISTS (SELECT 1 FROM admitted WHERE kind = 'operator' OR status = 'active')`

/** Days are counted in slots: writes of one agent need not wait for each other's commit. */
const countDay = (source: string, day: string, slot: string) => `
  counted_day AS (
    INSERT INTO daily_writes (agent_id, day, slot, writes)
    SELECT $1, ${day}::BIGINT, ${slot}, 1 FROM ${source}
    ON CONFLICT (agent_id, day, slot) DO UPDATE SET writes = daily_writes.writes + 1
  )`

const createMemory = statement<AdmittedRow & { created: boolean; present: boolean }>(
  'create_memory',
  `WITH ${ADMITTED},
   present AS (SELECT version FROM memories WHERE agent_id = $1 AND key = $3),
   counted AS (
     UPDATE agents SET memory_count = memory_count + 1
     WHERE agent_id = $1 AND ($8::BIGINT = 0 OR memory_count < $8::BIGINT)
       AND ${MAY} AND NOT EXISTS (SELECT 1 FROM present)
     RETURNING agent_id
   ),
   created AS (
     INSERT INTO memories (agent_id, key, id, text, metadata, version, created_at, updated_at)
     SELECT agent_id, $3, $4, $5, $6, 1, $7::BIGINT, $7::BIGINT FROM counted
     RETURNING version
   ),
   ${countDay('created', '$9', '$10')}
   SELECT kind, status AS credential_status,
     EXISTS (SELECT 1 FROM created) AS created, EXISTS (SELECT 1 FROM present) AS present
   FROM admitted`,
)

interface Changed {
  id: string
  version: number
  created_at: number
  updated_at: number
}

export const updateMemory = statement<AdmittedRow & (Changed | { id: null })>(
  'update_memory',
  `WITH ${ADMITTED},
   changed AS (
     UPDATE memories
     SET text = $5, metadata = $6, version = version + 1, updated_at = greatest(updated_at, $7)
     WHERE agent_id = $1 AND key = $3 AND version = $4 AND ${MAY}
     RETURNING id, version, created_at, updated_at
   ),
   ${countDay('changed', '$8', '$9')}
   SELECT a.kind, a.status AS credential_status, c.id, c.version, c.created_at, c.updated_at
   FROM admitted a LEFT JOIN changed c ON true`,
)

/** The lowest digit of a fresh UUID spreads the writes over 16 slots. */
const slotOf = ({ id }: MemoryWrite): string => id.slice(-1)

/** Undefined: another version is there. */
type Written = Exclude<WriteAnswer, { outcome: 'conflict' }> | undefined

async function create(
  ask: Ask,
  { agentId, tokenHash }: Identity,
  write: MemoryWrite,
  maxMemories: number,
  now: number,
): Promise<Written> {
  const { id, key, text, metadata } = write
  const values = [key, id, text, metadata, now, maxMemories, dayOf(now), slotOf(write)]
  const [row] = await ask(createMemory, agentId, tokenHash, ...values)
  const refused = refusedBy(row)
  if (refused) return refused
  if (!row?.created) return row?.present ? undefined : { outcome: 'over_quota' }
  const memory: Memory = { id, key, text, metadata, version: 1, createdAt: now, updatedAt: now }
  return { outcome: 'saved', memory }
}

/** A concurrent write that creates the same memory makes this one fail as a whole. */
async function createUnlessThere(...args: Parameters<typeof create>): Promise<Written> {
  try {
    return await create(...args)
  } catch (error) {
    if (isDuplicate(error)) return undefined
    throw error
  }
}

async function update(
  ask: Ask,
  { agentId, tokenHash }: Identity,
  write: MemoryWrite,
  now: number,
): Promise<Written> {
  const { key, text, metadata, expectedVersion } = write
  const values = [key, expectedVersion, text, metadata, now, dayOf(now), slotOf(write)]
  const [row] = await ask(updateMemory, agentId, tokenHash, ...values)
  const refused = refusedBy(row)
  if (refused) return refused
  if (!row || row.id === null) return undefined
  const { id, version, created_at: createdAt, updated_at: updatedAt } = row
  return { outcome: 'saved', memory: { id, key, text, metadata, version, createdAt, updatedAt } }
}

const changeStatus = statement<AgentRow>(
  'change_status',
  `WITH ${ADMITTED},
   marked AS (
     UPDATE credentials SET status = $3 WHERE agent_id = $1 AND kind = 'agent' AND ${MAY}
     RETURNING token_hash
   )
   UPDATE agents SET status = $3, updated_at = greatest(updated_at, $4)
   WHERE agent_id = $1 AND ${MAY} AND (SELECT count(*) FROM marked) >= 0
   RETURNING ${AGENT_COLUMNS}`,
)

/** In place, so that of two rotations the later voids the token of the earlier. */
const rotateAgentToken = statement<{ agent_id: string }>(
  'rotate_agent_token',
  `WITH ${ADMITTED},
   renewed AS (
     UPDATE credentials SET token_hash = $3 WHERE agent_id = $1 AND kind = 'agent' AND ${MAY}
     RETURNING agent_id
   )
   UPDATE agents SET rotated = true WHERE agent_id IN (SELECT agent_id FROM renewed)
   RETURNING agent_id`,
)

const beat = statement(
  'beat',
  `INSERT INTO heartbeat (id, written_at) VALUES (1, $1)
   ON CONFLICT (id) DO UPDATE SET written_at = excluded.written_at`,
)

export function homeWrites({ write: ask }: Connections, reads: HomeReads) {
  /** What stands in the way, looked at again; unless it no longer does. */
  async function conflict(
    identity: Identity,
    write: MemoryWrite,
  ): Promise<Refused | (WriteAnswer & { outcome: 'conflict' }) | undefined> {
    const found = await reads.readMemory(identity, write.key)
    if (found.outcome !== 'found' && found.outcome !== 'missing') return found
    const stored = found.outcome === 'found' ? found.memory : undefined
    const currentVersion = stored?.version ?? 0
    if (currentVersion === write.expectedVersion) return undefined
    const sameContent = stored?.text === write.text && stored.metadata === write.metadata
    return { outcome: 'conflict', currentVersion, updatedAt: stored?.updatedAt, sameContent }
  }

  async function writeMemory(
    identity: Identity,
    write: MemoryWrite,
    maxMemories: number,
    now: number,
  ): Promise<WriteAnswer> {
    const written =
      write.expectedVersion === 0
        ? await createUnlessThere(ask, identity, write, maxMemories, now)
        : await update(ask, identity, write, now)
    return (
      written ?? (await conflict(identity, write)) ?? writeMemory(identity, write, maxMemories, now)
    )
  }

  return {
    writeMemory,
    async setStatus(identity: Identity, status: AgentStatus, now: number): Promise<ProfileAnswer> {
      const { agentId, tokenHash } = identity
      const [row] = await ask(changeStatus, agentId, tokenHash, status, now)
      return row
        ? { outcome: 'profile', profile: profileOf(row), memoryCount: row.memory_count }
        : { outcome: 'revoked' }
    },
    async rotateAgentToken({ agentId, tokenHash }: Identity, newTokenHash: string) {
      const [row] = await ask(rotateAgentToken, agentId, tokenHash, newTokenHash)
      return row ? ({ outcome: 'rotated' } as const) : ({ outcome: 'revoked' } as const)
    },
    async checkWritable(now: number): Promise<void> {
      await ask(beat, now)
    },
  }
}
