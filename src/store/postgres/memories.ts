/**
 * Memories: each write is one statement, so that one round trip decides and commits.
 *
 * The credential is locked against change until the commit (FOR SHARE): a token that was revoked,
 * or whose agent was paused, before a write is committed does not write. A row that another
 * statement changed meanwhile is looked at again by the server before it is changed, which makes
 * `version = …` a compare-and-swap and `memory_count < …` a quota.
 */

import { conflictWith } from '../answers.ts'
import { StoreUnavailable } from '../port/errors.ts'
import type {
  Identity,
  Memory,
  MemoryWrite,
  ReadAnswer,
  Refused,
  WriteAnswer,
} from '../port/home.ts'
import { dayOf } from '../port/sessions.ts'
import { type MemoryRow, memoryOf } from '../rows.ts'
import { together } from './engine/batcher.ts'
import { type Ask, type Connections, statement } from './engine/connections.ts'
import { isDuplicate } from './engine/faults.ts'
import { ADMITTED, type AdmittedRow, MAY, refusedBy } from './identities.ts'

/** The agent's status is on each of its credentials: see the schema. */
export const readMemory = statement<AdmittedRow & (MemoryRow | { id: null })>(
  'read_memory',
  `SELECT c.kind, c.status AS credential_status,
     m.id, m.key, m.text, m.metadata, m.version, m.created_at, m.updated_at
   FROM credentials c LEFT JOIN memories m ON m.agent_id = c.agent_id AND m.key = $3
   WHERE c.agent_id = $1 AND c.token_hash = $2`,
)

/** The same for several readers at once; the first column is the place in their list. */
const readMemories = statement<{ place: number } & AdmittedRow & (MemoryRow | { id: null })>(
  'read_memories',
  `SELECT q.place, c.kind, c.status AS credential_status,
     m.id, m.key, m.text, m.metadata, m.version, m.created_at, m.updated_at
   FROM unnest($1::TEXT[], $2::TEXT[], $3::TEXT[]) WITH ORDINALITY
     AS q (agent_id, token_hash, key, place)
   JOIN credentials c ON c.agent_id = q.agent_id AND c.token_hash = q.token_hash
   LEFT JOIN memories m ON m.agent_id = q.agent_id AND m.key = q.key`,
)

interface Reading {
  readonly identity: Identity
  readonly key: string
}

const answerOf = (row: (AdmittedRow & (MemoryRow | { id: null })) | undefined): ReadAnswer => {
  const refused = refusedBy(row)
  if (refused) return refused
  return row && row.id !== null
    ? { outcome: 'found', memory: memoryOf(row) }
    : { outcome: 'missing' }
}

async function readOne(ask: Ask, { identity, key }: Reading): Promise<ReadAnswer> {
  const [row] = await ask(readMemory, identity.agentId, identity.tokenHash, key)
  return answerOf(row)
}

async function readSeveral(ask: Ask, readings: readonly Reading[]): Promise<ReadAnswer[]> {
  const rows = await ask(
    readMemories,
    readings.map(({ identity }) => identity.agentId),
    readings.map(({ identity }) => identity.tokenHash),
    readings.map(({ key }) => key),
  )
  const byPlace = new Map(rows.map((row) => [row.place, row]))
  return readings.map((_, i) => answerOf(byPlace.get(i + 1)))
}

/** Four groups keep the server busy; one of 64 texts is at most a megabyte. */
const READINGS = { atOnce: 4, inGroup: 64 }

/** Reads that come together share one statement, which costs both sides less than one for each. */
export const readTogether = (ask: Ask): ((reading: Reading) => Promise<ReadAnswer>) =>
  together(READINGS, async (readings) =>
    readings.length === 1 && readings[0]
      ? [await readOne(ask, readings[0])]
      : readSeveral(ask, readings),
  )

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

/** What stands in the way, looked at again; unless it no longer does. */
async function conflict(
  ask: Ask,
  identity: Identity,
  write: MemoryWrite,
): Promise<Refused | (WriteAnswer & { outcome: 'conflict' }) | undefined> {
  const found = await readOne(ask, { identity, key: write.key })
  if (found.outcome !== 'found' && found.outcome !== 'missing') return found
  const stored = found.outcome === 'found' ? found.memory : undefined
  const answer = conflictWith(stored, write)
  return answer.currentVersion === write.expectedVersion ? undefined : answer
}

/** What stood in the way may be gone when it is looked at; each time, it cannot be. */
const TRIES = 5

export function memoryVerbs({ read, write: ask }: Connections, committed: () => void) {
  const readMemory = readTogether(read)

  async function writeMemory(
    identity: Identity,
    write: MemoryWrite,
    maxMemories: number,
    now: number,
  ): Promise<WriteAnswer> {
    for (let tries = 0; tries < TRIES; tries++) {
      const written =
        write.expectedVersion === 0
          ? await createUnlessThere(ask, identity, write, maxMemories, now)
          : await update(ask, identity, write, now)
      if (written?.outcome === 'saved') committed()
      const answer = written ?? (await conflict(read, identity, write))
      if (answer) return answer
    }
    throw new StoreUnavailable('what stands in the way of the write is never there')
  }

  return {
    readMemory: (identity: Identity, key: string) => readMemory({ identity, key }),
    writeMemory,
  }
}
