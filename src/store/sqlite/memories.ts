/** Memories: read by key, and written under compare-and-swap. */
import type { DatabaseSync } from 'node:sqlite'
import { conflictWith } from '../answers.ts'
import type { Identity, Memory, MemoryWrite, ReadAnswer, WriteAnswer } from '../port/home.ts'
import { dayOf } from '../port/sessions.ts'
import { prepare, prepareTuples } from './engine/connection.ts'
import type { Tally } from './engine/totals.ts'
import type { Refuse } from './identities.ts'

type MemoryTuple = [
  id: string,
  text: string,
  metadata: string,
  version: number,
  createdAt: number,
  updatedAt: number,
]

export function prepareReadMemory(db: DatabaseSync, refuse: Refuse) {
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

/** A saved memory without what its writer already has. */
export type Receipt = Pick<Memory, 'id' | 'version' | 'createdAt' | 'updatedAt'>

export type WriteResult =
  | { readonly outcome: 'saved'; readonly receipt: Receipt }
  | Exclude<WriteAnswer, { outcome: 'saved' }>

type Current = [rowid: number, id: string, version: number, createdAt: number, updatedAt: number]

function prepareConflict(db: DatabaseSync) {
  const content = prepareTuples<[text: string, metadata: string]>(
    db,
    'SELECT text, metadata FROM memories WHERE rowid = ?',
  )
  return (write: MemoryWrite, found: Current | undefined): WriteResult => {
    if (!found) return conflictWith(undefined, write)
    const [rowid, , version, , updatedAt] = found
    const [text = '', metadata = ''] = content.get(rowid) ?? []
    return conflictWith({ text, metadata, version, updatedAt }, write)
  }
}

function prepareCreate(db: DatabaseSync, tally: Tally) {
  const insert = prepare(
    db,
    `INSERT INTO memories (agent_id, key, id, text, metadata, version, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, 1, ?, ?)`,
  )
  const countOne = prepare(db, 'UPDATE agents SET memory_count = memory_count + 1 WHERE id = ?')
  return (agentId: string, write: MemoryWrite, now: number): WriteResult => {
    const { id, key, text, metadata } = write
    insert.run(agentId, key, id, text, metadata, now, now)
    countOne.run(agentId)
    tally.created()
    return { outcome: 'saved', receipt: { id, version: 1, createdAt: now, updatedAt: now } }
  }
}

function prepareReplace(db: DatabaseSync) {
  const update = prepare(
    db,
    'UPDATE memories SET text = ?, metadata = ?, version = ?, updated_at = ? WHERE rowid = ?',
  )
  return (
    { text, metadata }: MemoryWrite,
    [rowid, id, replaced, createdAt, earlier]: Current,
    now: number,
  ): WriteResult => {
    const version = replaced + 1
    // A clock that steps back must not make an update older than what it replaced.
    const updatedAt = Math.max(now, earlier)
    update.run(text, metadata, version, updatedAt, rowid)
    return { outcome: 'saved', receipt: { id, version, createdAt, updatedAt } }
  }
}

function prepareQuota(db: DatabaseSync) {
  const memoryCount = prepareTuples<[number]>(db, 'SELECT memory_count FROM agents WHERE id = ?')
  return (agentId: string, maxMemories: number): boolean =>
    maxMemories > 0 && (memoryCount.get(agentId)?.[0] ?? 0) >= maxMemories
}

export function prepareWriteMemory(db: DatabaseSync, refuse: Refuse, tally: Tally) {
  const current = prepareTuples<Current>(
    db,
    `SELECT rowid, id, version, created_at, updated_at
     FROM memories WHERE agent_id = ? AND key = ?`,
  )
  const countWrite = prepare(
    db,
    `INSERT INTO daily_writes (agent_id, day, writes) VALUES (?, ?, 1)
     ON CONFLICT (agent_id, day) DO UPDATE SET writes = writes + 1`,
  )
  const conflict = prepareConflict(db)
  const full = prepareQuota(db)
  const create = prepareCreate(db, tally)
  const replace = prepareReplace(db)

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
