/** The current state of each key: a live memory or a tombstone, and its newest version. */
import type { DatabaseSync } from 'node:sqlite'
import type { Head } from '../../change.ts'
import type { Deleted } from '../../port/keeping/memories.ts'
import { prepare, prepareTuples } from '../engine/connection.ts'

/** The current state of a key, and the row of its newest version. */
export interface KeyState extends Head {
  readonly n: number | null
  readonly pinned: boolean
  /** The event that changed it last. */
  readonly change: number
  /** Retained versions before it. */
  readonly count: number
  /** Consecutive versions before it under this key, none of them erased. */
  readonly run: number
}

/** Without `kept`, which follows from the number of versions. */
export type Saved = Omit<KeyState, 'kept'>

export const afterDelete = (state: KeyState, { version, deletedAt }: Deleted): KeyState => ({
  ...state,
  version,
  updatedAt: deletedAt,
  deleted: true,
  size: 0,
  pinned: false,
  protected: false,
})

type StandTuple = [
  id: string,
  version: number,
  createdAt: number,
  updatedAt: number,
  deleted: number,
  size: number,
  pinned: number,
  isProtected: number,
  change: number,
  kept: number,
  run: number,
  n: number | null,
]

export function prepareKeyState(db: DatabaseSync) {
  const select = prepareTuples<StandTuple>(
    db,
    `SELECT id, version, created_at, updated_at, deleted, size, pinned, protected, change, kept, run,
       n
     FROM memories WHERE agent_id = ? AND key = ?`,
  )
  return (agentId: string, key: string): KeyState | undefined => {
    const row = select.get(agentId, key)
    if (!row) return undefined
    const [id, version, createdAt, updatedAt, deleted, size, pinned, isProtected, ...rest] = row
    const [change, count, run, n] = rest
    const marks = { pinned: pinned === 1, protected: isProtected === 1 }
    const flags = { deleted: deleted === 1, kept: count > 0, ...marks }
    return { id, version, createdAt, updatedAt, size, change, count, run, n, ...flags }
  }
}

export function prepareSaveKeyState(db: DatabaseSync) {
  const insert = prepare(
    db,
    `INSERT INTO memories
       (id, version, created_at, updated_at, deleted, size, pinned, protected, change, kept, run,
        n, agent_id, key)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const update = prepare(
    db,
    `UPDATE memories SET id = ?, version = ?, created_at = ?, updated_at = ?, deleted = ?,
       size = ?, pinned = ?, protected = ?, change = ?, kept = ?, run = ?, n = ?
     WHERE agent_id = ? AND key = ?`,
  )
  return (agentId: string, key: string, state: Saved, isNew: boolean): void => {
    const { id, version, createdAt, updatedAt, deleted, size, pinned, change, count, run, n } =
      state
    const statement = isNew ? insert : update
    statement.run(
      ...[
        id,
        version,
        createdAt,
        updatedAt,
        deleted ? 1 : 0,
        size,
        pinned ? 1 : 0,
        +state.protected,
      ],
      ...[change, count, run, n, agentId, key],
    )
  }
}
