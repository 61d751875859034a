/**
 * What is to be imported waits in a table that only the writer's connection has, and that ends with
 * it: many small writes bring it there, with others between them, and one takes it over.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { KeptVersion } from '../../port/transfer.ts'
import { prepare } from '../engine/connection.ts'

const CREATE = `
  CREATE TEMP TABLE IF NOT EXISTS staged (
    n INTEGER PRIMARY KEY,
    import TEXT NOT NULL,
    key TEXT NOT NULL,
    version INTEGER NOT NULL,
    operation TEXT NOT NULL,
    author TEXT,
    id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    size INTEGER NOT NULL,
    metadata TEXT,
    text TEXT
  ) STRICT;
  CREATE INDEX IF NOT EXISTS temp.staged_by_import ON staged (import, n);`

export interface StagedRow {
  n: number
  key: string
  version: number
  operation: KeptVersion['operation']
  id: string
  created_at: number
  updated_at: number
  size: number
}

/** `place` names the import. */
export function prepareStaging(db: DatabaseSync) {
  db.exec(CREATE)
  const insert = prepare(
    db,
    `INSERT INTO temp.staged (import, key, version, operation, author, id, created_at, updated_at,
       bytes, size, metadata, text) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const select = prepare<StagedRow>(
    db,
    `SELECT n, key, version, operation, id, created_at, updated_at, size FROM temp.staged
     WHERE import = ? ORDER BY n`,
  )
  const drop = prepare(db, 'DELETE FROM temp.staged WHERE import = ?')

  return {
    stageImport(place: string, versions: readonly KeptVersion[]): void {
      for (const { content, by, ...kept } of versions) {
        const { text = null, metadata = null } = content ?? {}
        const bytes = text === null ? 0 : Buffer.byteLength(text)
        const size = bytes + (metadata === null ? 0 : Buffer.byteLength(metadata))
        const author = by ? JSON.stringify(by) : null
        insert.run(
          ...[place, kept.key, kept.version, kept.operation, author, kept.id, kept.createdAt],
          ...[kept.updatedAt, bytes, size, metadata, text],
        )
      }
    },
    dropImport: (place: string): void => void drop.run(place),
    rowsOf: (place: string): Iterable<StagedRow> => select.iterate(place),
  }
}

export type Staging = ReturnType<typeof prepareStaging>
