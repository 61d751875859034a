/** Maintenance of the database files between commits. */
import type { DatabaseSync } from 'node:sqlite'
import type { Timers } from '../../../timers.ts'
import { BUSY_TIMEOUT_MS, openReader, prepare } from './connection.ts'
import { openResidueCleaner, type ResidueCleaner } from './residue.ts'

/** 8 MB: rare enough to cost little, small enough that waiting writes are delayed by a few ms. */
const LOG_PAGES = 2_000

/**
 * A check delays a single write by about 20 µs. With the largest rows of 64 KB, 16 MB pass
 * unchecked.
 */
const ROWS_UNSEEN = 256

/** `done`; or call again: at once if there is `more`, later if a reader is in the way. */
export type Cleaning = 'done' | 'more' | 'busy'

interface Upkeep {
  /** Checkpoints the log once it is long. `rows`: rows changed since; 0 if a reader asks for it. */
  readonly bound: (rows: number) => void
  /**
   * Checkpoints everything, truncates the log and overwrites deleted content in the database: one
   * slice at a time if the file was not cleaned before. Does not wait.
   */
  readonly clean: () => Cleaning
  /** Before the connection is closed, which checkpoints the log. */
  readonly close: () => void
}

/** The result of `PRAGMA wal_checkpoint`. */
export interface LogState {
  /** Pages in the log. */
  readonly log: number
  /** Those of them that are in the database. */
  readonly checkpointed: number
}

const UNKNOWN: LogState = { log: 0, checkpointed: -1 }

const isWhole = ({ log, checkpointed }: LogState): boolean => log === checkpointed

/** Checkpoints the log, and overwrites remains of deleted content in the pages it writes. */
function prepareCheckpoint(db: DatabaseSync, other: DatabaseSync, cleaner: ResidueCleaner) {
  const passive = prepare<LogState>(db, 'PRAGMA wal_checkpoint(PASSIVE)')
  // While a connection blocks other commits it cannot read.
  const look = prepare<LogState>(other, 'PRAGMA wal_checkpoint(NOOP)')

  function checkpointAll(): boolean {
    cleaner.watch()
    try {
      return isWhole(passive.get() ?? UNKNOWN)
    } finally {
      cleaner.note()
    }
  }

  /** If everything is in the file, a checkpoint has nothing to write until the next commit. */
  function wipeAlone(throughAll: boolean): boolean {
    db.exec('BEGIN IMMEDIATE')
    try {
      const state = look.get() ?? UNKNOWN
      return isWhole(state) && cleaner.run(state.log, throughAll)
    } finally {
      db.exec('ROLLBACK')
    }
  }

  return (throughAll: boolean): boolean => checkpointAll() && wipeAlone(throughAll)
}

/** Failed pages are still in the log; the next checkpoint tries again. */
function withoutWaiting<T>(db: DatabaseSync, work: () => T, otherwise: T): T {
  try {
    db.exec('PRAGMA busy_timeout = 0')
    return work()
  } catch {
    return otherwise
  } finally {
    db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
  }
}

/** `file`: the database's descriptor, open for reading and writing. */
export function prepareUpkeep(
  db: DatabaseSync,
  path: string,
  file: number,
  timers: Timers,
): Upkeep {
  // SQLite's automatic checkpoints would run inside a commit, delaying its writes.
  db.exec('PRAGMA wal_autocheckpoint = 0')
  const look = prepare<LogState>(db, 'PRAGMA wal_checkpoint(NOOP)')
  const truncate = prepare<{ busy: number }>(db, 'PRAGMA wal_checkpoint(TRUNCATE)')
  const other = openReader(path)
  const cleaner = openResidueCleaner(path, file, timers)
  const checkpoint = prepareCheckpoint(db, other, cleaner)

  let unseen = 0

  function isLong(): boolean {
    try {
      return (look.get()?.log ?? 0) >= LOG_PAGES
    } catch {
      return false
    }
  }

  function clean(): Cleaning {
    if (!checkpoint(true)) return 'busy'
    // SQLite would reuse a free page from its cache, including what is behind its content.
    db.exec('PRAGMA shrink_memory')
    if (!cleaner.isClean()) return 'more'
    if (truncate.get()?.busy !== 0) return 'busy'
    // Another commit may have happened in between.
    return cleaner.isClean() ? 'done' : 'more'
  }

  return {
    bound(rows): void {
      unseen += rows
      if (rows > 0 && unseen < ROWS_UNSEEN) return
      unseen = 0
      if (isLong()) withoutWaiting(db, () => checkpoint(false), false)
    },
    clean: () => withoutWaiting(db, clean, 'busy'),
    close(): void {
      withoutWaiting(db, () => checkpoint(false), false)
      other.close()
    },
  }
}
