/** What is done with the files between commits. */
import type { DatabaseSync } from 'node:sqlite'
import { BUSY_TIMEOUT_MS, openReader, prepare } from './connection.ts'
import { openScour, type Scour } from './scour/scour.ts'

/** 8 MB: rare enough to cost little, small enough that the writes behind it wait a few ms. */
const LOG_PAGES = 2_000

/** A look keeps a lone write waiting for some 20 µs. The largest rows, of 64 KB, make 16 MB unseen. */
const ROWS_UNSEEN = 256

/** `done`; or asked for again: at once where there is `more`, later where somebody is in the way. */
export type Cleaning = 'done' | 'more' | 'busy'

export interface Upkeep {
  /**
   * Moves the log into the database file once it is long. `rows`: how many were changed since; where
   * that is none, somebody waits for it to be moved.
   */
  readonly bound: (rows: number) => void
  /**
   * Moves all of it, leaves an empty file, and nothing in the database's of what was deleted: a
   * slice at a time where the file is not known. Waits for nobody.
   */
  readonly clean: () => Cleaning
  /** Before the connection closes, which moves what is in the log. */
  readonly close: () => void
}

interface Moved {
  /** Pages in it. */
  readonly log: number
  /** Pages of these that are in the database. */
  readonly checkpointed: number
}

const UNKNOWN: Moved = { log: 0, checkpointed: -1 }

const isWhole = ({ log, checkpointed }: Moved): boolean => log === checkpointed

/** Moves the log, and sees to it that nothing is left where it was moved to. */
function prepareSettle(db: DatabaseSync, other: DatabaseSync, scour: Scour) {
  const move = prepare<Moved>(db, 'PRAGMA wal_checkpoint(PASSIVE)')
  // A connection cannot look while it keeps the others from committing.
  const look = prepare<Moved>(other, 'PRAGMA wal_checkpoint(NOOP)')

  function isMoved(): boolean {
    scour.watch()
    try {
      return isWhole(move.get() ?? UNKNOWN)
    } finally {
      scour.note()
    }
  }

  /** Where all is in the file, a checkpoint has nothing to write until somebody commits. */
  function scourAlone(throughAll: boolean): boolean {
    db.exec('BEGIN IMMEDIATE')
    try {
      const moved = look.get() ?? UNKNOWN
      return isWhole(moved) && scour.run(moved.log, throughAll)
    } finally {
      db.exec('ROLLBACK')
    }
  }

  return (throughAll: boolean): boolean => isMoved() && scourAlone(throughAll)
}

/** What fails is still in the log; who comes next tries again. */
function waitingForNobody<T>(db: DatabaseSync, work: () => T, otherwise: T): T {
  try {
    db.exec('PRAGMA busy_timeout = 0')
    return work()
  } catch {
    return otherwise
  } finally {
    db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
  }
}

/** `file`: the database's, open for reading and writing. */
export function prepareUpkeep(db: DatabaseSync, path: string, file: number): Upkeep {
  // SQLite's own checkpoints would run inside a commit, before the writes in it are answered.
  db.exec('PRAGMA wal_autocheckpoint = 0')
  const look = prepare<Moved>(db, 'PRAGMA wal_checkpoint(NOOP)')
  const truncate = prepare<{ busy: number }>(db, 'PRAGMA wal_checkpoint(TRUNCATE)')
  const other = openReader(path)
  const scour = openScour(path, file)
  const settle = prepareSettle(db, other, scour)

  let unseen = 0

  function isLong(): boolean {
    try {
      return (look.get()?.log ?? 0) >= LOG_PAGES
    } catch {
      return false
    }
  }

  function clean(): Cleaning {
    if (!settle(true)) return 'busy'
    // It would use a free page again as it remembers it, with all that is behind its own content.
    db.exec('PRAGMA shrink_memory')
    if (!scour.isClean()) return 'more'
    if (truncate.get()?.busy !== 0) return 'busy'
    // Somebody else's commit may have come in between.
    return scour.isClean() ? 'done' : 'more'
  }

  return {
    bound(rows): void {
      unseen += rows
      if (rows > 0 && unseen < ROWS_UNSEEN) return
      unseen = 0
      if (isLong()) waitingForNobody(db, () => settle(false), false)
    },
    clean: () => waitingForNobody(db, clean, 'busy'),
    close(): void {
      waitingForNobody(db, () => settle(false), false)
      other.close()
    },
  }
}
