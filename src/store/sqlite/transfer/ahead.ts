/**
 * Staged rows of an unfinished import. They are in the log at their final place, below all visible
 * rows of the home; no memory points to them, and they are in no counter.
 */
import type { DatabaseSync } from 'node:sqlite'
import { commitTo } from '../../chain.ts'
import type { KeptVersion } from '../../port/transfer.ts'
import { prepare } from '../engine/connection.ts'
import { prepareHomes } from '../keeping/homes.ts'
import { beneath } from '../keeping/log.ts'

/** Rows per slice; more would delay others. */
const AT_ONCE = 128

/** A version, and its row in the log. */
export interface Placed {
  readonly agentId: string
  /** Negative. */
  readonly id: number
  readonly version: Omit<KeptVersion, 'by'>
  /** As JSON. */
  readonly author: string | null
  /** The row of the previous version. */
  readonly previous: number | null
  /** The newest of its key: an event is to commit to it. */
  readonly isNewest: boolean
}

export const sizesOf = ({ content }: Pick<KeptVersion, 'content'>) => {
  const bytes = Buffer.byteLength(content?.text ?? '')
  return { bytes, size: bytes + Buffer.byteLength(content?.metadata ?? '') }
}

/** Returns the row's number. */
export function prepareWriteAhead(db: DatabaseSync) {
  const insert = prepare(
    db,
    `INSERT INTO log (agent_id, id, key, version, author, updated_at, operation, previous,
       memory_id, created_at, bytes, size, content, salt, metadata, text)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const file = prepare(db, 'INSERT INTO log_index (agent_id, id, n) VALUES (?, ?, ?)')
  return ({ agentId, id, version, author, previous, isNewest }: Placed): number => {
    const { operation, createdAt, updatedAt, content } = version
    // An earlier version belongs to the key that it was made under.
    const key = (!isNewest && version.madeAs) || version.key
    const { bytes, size } = sizesOf(version)
    const proof = isNewest && content ? commitTo(content) : undefined
    const { lastInsertRowid: n } = insert.run(
      ...[agentId, id, key, version.version, author, updatedAt, operation, previous, version.id],
      ...[createdAt, bytes, size, proof?.content ?? null, proof?.salt ?? null],
      ...[content?.metadata ?? null, content?.text ?? null],
    )
    file.run(agentId, id, n)
    return Number(n)
  }
}

/** Recorded before the first staged row, in the same commit. */
export function prepareMark(db: DatabaseSync) {
  const mark = prepare(db, 'INSERT OR IGNORE INTO staged_imports (agent_id) VALUES (?)')
  const unmark = prepare(db, 'DELETE FROM staged_imports WHERE agent_id = ?')
  return {
    mark: (agentId: string): void => void mark.run(agentId),
    unmark: (agentId: string): void => void unmark.run(agentId),
  }
}

/** Removes a slice; false if nothing is left. */
export function prepareGiveUpAhead(db: DatabaseSync) {
  const homes = prepareHomes(db)
  const { unmark } = prepareMark(db)
  const lowest = `FROM log_index WHERE agent_id = ?1 AND id < ?2 ORDER BY id LIMIT ${AT_ONCE}`
  const remove = prepare(db, `DELETE FROM log WHERE n IN (SELECT n ${lowest})`)
  const unfile = prepare(
    db,
    `DELETE FROM log_index WHERE agent_id = ?1 AND id IN (SELECT id ${lowest})`,
  )
  return (agentId: string): boolean => {
    const below = beneath(homes.read(agentId))
    const { changes } = remove.run(agentId, below)
    if (changes > 0) unfile.run(agentId, below)
    else unmark(agentId)
    return changes > 0
  }
}

/** Removes the rows of imports that never finished, before the service starts. */
export function giveUpAhead(db: DatabaseSync): void {
  const giveUp = prepareGiveUpAhead(db)
  const marked = prepare<{ agent_id: string }>(db, 'SELECT agent_id FROM staged_imports').all()
  for (const { agent_id: agentId } of marked) while (giveUp(agentId));
}
