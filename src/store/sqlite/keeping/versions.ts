/**
 * Versions as they lie in the log. Each names the one before it of the same memory; of a memory some
 * newest are kept, of a home as much as its bytes allow.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { Content, Past } from '../../change.ts'
import type { VersionRow } from '../../rows.ts'
import { prepare } from '../engine/connection.ts'
import type { Kept } from './log.ts'

/** A version, and the row of the log that holds it. */
export type KeptVersionRow = VersionRow & Kept

/** The versions of a memory, newest first, as far as they are kept. */
export function prepareChain(db: DatabaseSync) {
  const version = prepare<KeptVersionRow>(
    db,
    `SELECT n, previous, version, operation, author, memory_id AS id, created_at, at AS updated_at,
       bytes, size, event, id AS event_id
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
  /** Undefined of a delete. */
  return (n: number | null): Content | undefined => content.get(n)
}

/** `most` versions of a memory are kept. */
export function preparePast(db: DatabaseSync, most: number) {
  const chain = prepareChain(db)
  const content = prepareContent(db)
  /** Null of a delete; undefined where it is not kept. */
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
