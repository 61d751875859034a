/** Moves what is committed from the log into the database file, between commits. */
import type { DatabaseSync } from 'node:sqlite'
import { prepare } from './connection.ts'

/** 8 MB: rare enough to cost little, small enough that the writes behind it wait a few ms. */
const LOG_PAGES = 2_000

/** SQLite's own would run inside a commit, before the writes in it are answered. */
export function prepareCheckpoint(db: DatabaseSync): () => void {
  db.exec('PRAGMA wal_autocheckpoint = 0')
  const look = prepare<{ log: number }>(db, 'PRAGMA wal_checkpoint(NOOP)')
  const move = prepare(db, 'PRAGMA wal_checkpoint(PASSIVE)')
  return () => {
    try {
      if ((look.get()?.log ?? 0) >= LOG_PAGES) move.get()
    } catch {
      // The log still holds everything; the next commit's checkpoint tries again.
    }
  }
}
