/**
 * Texts, in the order in which they were written. Each names the one before it of the same memory;
 * of a memory some newest are kept, of a home as much as its bytes allow.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { Past } from '../change.ts'
import type { Memory, Operation } from '../port/memories.ts'
import type { VersionRow } from '../rows.ts'
import { prepare, prepareTuples } from './engine/connection.ts'

/** What is written of a version beside where it lies. */
export interface NewVersion {
  readonly agentId: string
  readonly key: string
  readonly seq: number
  readonly previous: number | null
  readonly version: number
  readonly operation: Operation
  readonly author: string
  readonly id: string
  readonly createdAt: number
  readonly updatedAt: number
  /** Null of a delete. */
  readonly content: Pick<Memory, 'text' | 'metadata'> | null
}

export function prepareInsertVersion(db: DatabaseSync) {
  const insert = prepareTuples<[number]>(
    db,
    `INSERT INTO versions (agent_id, key, seq, previous, version, operation, author, id,
       created_at, updated_at, bytes, size, metadata, text)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING n`,
  )
  return (made: NewVersion): number => {
    const { text, metadata } = made.content ?? { text: null, metadata: null }
    const bytes = text === null ? 0 : Buffer.byteLength(text)
    const size = bytes + (metadata === null ? 0 : Buffer.byteLength(metadata))
    const row = insert.get(
      ...[made.agentId, made.key, made.seq, made.previous, made.version, made.operation],
      ...[made.author, made.id, made.createdAt, made.updatedAt, bytes, size, metadata, text],
    )
    return row?.[0] ?? 0
  }
}

/** The versions of a memory, newest first, as far as they are kept. */
export function prepareChain(db: DatabaseSync) {
  const version = prepare<VersionRow>(
    db,
    `SELECT n, previous, version, operation, author, id, created_at, updated_at, bytes, size
     FROM versions WHERE n = ?`,
  )
  return function* chain(newest: number | null, most: number): Generator<VersionRow> {
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
  const content = prepareTuples<[text: string | null, metadata: string | null]>(
    db,
    'SELECT text, metadata FROM versions WHERE n = ?',
  )
  /** Undefined of a delete. */
  return (n: number | null): Pick<Memory, 'text' | 'metadata'> | undefined => {
    const [text = null, metadata = null] = (n !== null && content.get(n)) || []
    return text === null || metadata === null ? undefined : { text, metadata }
  }
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
