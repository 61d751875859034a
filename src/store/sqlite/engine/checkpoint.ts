/** What is done with the files between commits. */
import type { DatabaseSync } from 'node:sqlite'
import { BUSY_TIMEOUT_MS, prepare } from './connection.ts'

/** 8 MB: rare enough to cost little, small enough that the writes behind it wait a few ms. */
const LOG_PAGES = 2_000

/** 32 MB: written anew in a moment, in which other writes wait. */
const FEW_PAGES = 8_000

export interface Upkeep {
  /** Moves the log into the database file once it is long. */
  readonly bound: () => void
  /** Moves all of it and leaves an empty file; false where a reader is in the way. Waits for none. */
  readonly empty: () => boolean
  /** Writes the database anew, without a trace of what is gone; false where it is too large. */
  readonly rewrite: () => boolean
}

const succeeds = (work: () => boolean): boolean => {
  try {
    return work()
  } catch {
    return false
  }
}

/** SQLite's own checkpoints would run inside a commit, before the writes in it are answered. */
export function prepareUpkeep(db: DatabaseSync): Upkeep {
  db.exec('PRAGMA wal_autocheckpoint = 0')
  const look = prepare<{ log: number }>(db, 'PRAGMA wal_checkpoint(NOOP)')
  const move = prepare(db, 'PRAGMA wal_checkpoint(PASSIVE)')
  const truncate = prepare<{ busy: number }>(db, 'PRAGMA wal_checkpoint(TRUNCATE)')
  const pages = prepare<{ page_count: number }>(db, 'PRAGMA page_count')

  function emptyAtOnce(): boolean {
    db.exec('PRAGMA busy_timeout = 0')
    try {
      return truncate.get()?.busy === 0
    } finally {
      db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
    }
  }

  function rewriteIfFew(): boolean {
    if ((pages.get()?.page_count ?? FEW_PAGES) >= FEW_PAGES) return false
    db.exec('VACUUM')
    return true
  }

  return {
    bound() {
      try {
        if ((look.get()?.log ?? 0) >= LOG_PAGES) move.get()
      } catch {
        // The log still holds everything; the next commit's checkpoint tries again.
      }
    },
    empty: () => succeeds(emptyAtOnce),
    rewrite: () => succeeds(rewriteIfFew),
  }
}
