/** The current state of each key: a live memory or a tombstone, and its newest version. */
import type { DatabaseSync } from 'node:sqlite'
import type * as waist from '../../home-log.ts'
import { marksIn, markTuple } from '../../marks.ts'
import { MARKS } from '../../port/memories.ts'
import { prepare, prepareTuples } from '../engine/connection.ts'

/** The current state of a key, and the row of its newest version. */
export interface KeyState extends waist.KeyState {
  readonly n: number | null
}

type StateTuple = [
  id: string,
  version: number,
  createdAt: number,
  updatedAt: number,
  deleted: number,
  size: number,
  pinned: number,
  change: number,
  kept: number,
  run: number,
  n: number | null,
  ...marks: number[],
]

/** The place of the first mark. */
const MARKS_FROM = 11

export function prepareKeyState(db: DatabaseSync) {
  const select = prepareTuples<StateTuple>(
    db,
    `SELECT id, version, created_at, updated_at, deleted, size, pinned, change, kept, run, n,
       ${MARKS.join(', ')}
     FROM memories WHERE agent_id = ? AND key = ?`,
  )
  return (agentId: string, key: string): KeyState | undefined => {
    const row = select.get(agentId, key)
    if (!row) return undefined
    const [id, version, createdAt, updatedAt, deleted, size, pinned, change, count, run, n] = row
    const marks = marksIn(row, MARKS_FROM)
    const flags = { deleted: deleted === 1, kept: count > 0, pinned: pinned === 1 }
    const place = n === null ? null : { row: n }
    return {
      id,
      version,
      createdAt,
      updatedAt,
      size,
      change,
      count,
      run,
      n,
      place,
      marks,
      ...flags,
    }
  }
}

export function prepareSaveKeyState(db: DatabaseSync) {
  const insert = prepare(
    db,
    `INSERT INTO memories
       (id, version, created_at, updated_at, deleted, size, pinned, change, kept, run, n,
        ${MARKS.join(', ')}, agent_id, key)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ${MARKS.map(() => '?').join(', ')}, ?, ?)`,
  )
  const update = prepare(
    db,
    `UPDATE memories SET id = ?, version = ?, created_at = ?, updated_at = ?, deleted = ?,
       size = ?, pinned = ?, change = ?, kept = ?, run = ?, n = ?, ${MARKS.map((mark) => `${mark} = ?`).join(', ')}
     WHERE agent_id = ? AND key = ?`,
  )
  return (
    agentId: string,
    key: string,
    state: waist.KeyState,
    { n, isNew }: { readonly n: number | null; readonly isNew: boolean },
  ): void => {
    const { id, version, createdAt, updatedAt, deleted, size, pinned, change, count, run } = state
    const statement = isNew ? insert : update
    statement.run(
      ...[id, version, createdAt, updatedAt, deleted ? 1 : 0, size, pinned ? 1 : 0],
      ...[change, count, run, n, ...markTuple(state.marks), agentId, key],
    )
  }
}
