/** Versions in the log. Each points to the previous version of its memory. */
import type { DatabaseSync } from 'node:sqlite'
import type { Content, Past } from '../../change.ts'
import type { VersionRow } from '../../rows.ts'
import type { VersionStatements } from '../../verbs/states-before.ts'
import { statement } from '../../verbs/verb.ts'
import { prepare } from '../engine/connection.ts'
import { type Kept, TAIL_OF_HOME } from './log.ts'

/** A version and where it is, for verbs of both engines. */
const PLACED = 'n, version, previous, operation, created_at, updated_at, id AS place, event'

export const versionStatements: VersionStatements = {
  at: statement(
    `SELECT ${PLACED} FROM log WHERE agent_id = $1 AND n = $2 AND operation IS NOT NULL`,
  ),
  madeBy: statement(`
  WITH RECURSIVE ${TAIL_OF_HOME}
    SELECT ${PLACED} FROM log WHERE operation IS NOT NULL AND n IN (
      SELECT n FROM log_index WHERE agent_id = $1 AND id = $2
      UNION ALL SELECT n FROM tail WHERE id = $2
    )`),
}

/** A version and its log row. */
export type KeptVersionRow = VersionRow & Kept

/** The retained versions of a memory, newest first. */
export function prepareChain(db: DatabaseSync) {
  const version = prepare<KeptVersionRow>(
    db,
    `SELECT n, previous, version, operation, author, memory_id AS id, created_at, updated_at,
       bytes, size, salt, event, id AS event_id
     FROM log WHERE n = ? AND operation IS NOT NULL`,
  )
  return function* chain(newest: number | null, most: number): Generator<KeptVersionRow> {
    let next = newest
    for (let met = 0; next !== null && (most === 0 || met < most); met++) {
      const row = version.get(next)
      if (!row) return
      yield row
      next = row.previous
    }
  }
}

export type Chain = ReturnType<typeof prepareChain>

export function prepareContent(db: DatabaseSync) {
  const content = prepare<Content>(
    db,
    'SELECT text, metadata FROM log WHERE n = ? AND text IS NOT NULL',
  )
  /** Undefined of a deletion. */
  return (n: number | null): Content | undefined => content.get(n)
}

/** `most`: versions retained of a memory. */
export function preparePast(db: DatabaseSync, most: number) {
  const chain = prepareChain(db)
  const content = prepareContent(db)
  /** Null of a deletion; undefined if not retained. */
  return (newest: number | null, version: number): Past | null | undefined => {
    for (const row of chain(newest, most)) {
      if (row.version < version) return undefined
      if (row.version > version) continue
      const found = content(row.n)
      return found ? { ...found, id: row.id, createdAt: row.created_at } : null
    }
    return undefined
  }
}
