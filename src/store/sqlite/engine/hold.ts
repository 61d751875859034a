/** A database file made ready: held by this process alone, its schema up to date. */
import { closeSync, openSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { StoreRefused } from '../../port/errors.ts'
import type { Progress } from '../../port/store.ts'
import { eraseLeft } from '../erase-agent.ts'
import { migrate } from '../schema/migrations.ts'
import { giveUpAhead } from '../transfer/ahead.ts'
import { prepareUpkeep } from './checkpoint.ts'
import { openWriter, transact } from './connection.ts'
import { lockDatabase, type ProcessLock } from './lock.ts'

/** What SQLite says of a file that it cannot use, for the person who named the file. */
function explaining<T>(path: string, open: () => T): T {
  try {
    return open()
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code !== 'ERR_SQLITE_ERROR') throw error
    throw new StoreRefused(`${path} cannot be used: ${message}. Check DATABASE_URL.`, {
      cause: error,
    })
  }
}

export interface Held {
  /** The database's file, open for reading and writing until it is released. */
  readonly file: number
  /** Nothing of what was deleted is left in it. */
  readonly isClean: boolean
  /** Once all connections are closed. */
  readonly release: () => void
}

/** Brings the schema up to date, and what a process that ended left in the log into the file. */
function prepareFile(db: DatabaseSync, path: string, file: number, progress: Progress): boolean {
  const upkeep = prepareUpkeep(db, path, file)
  try {
    const memories = migrate(db, path, progress)
    transact(db, () => {
      giveUpAhead(db)
      eraseLeft(db)
    })
    const isClean = upkeep.clean() === 'done'
    if (memories > 0) progress(memories, memories)
    return isClean
  } finally {
    upkeep.close()
  }
}

/** Under the lock, before the writer's thread has its connection. */
function openLocked(path: string, now: number, progress: Progress): Held {
  const db = openWriter(path)
  let lock: ProcessLock | undefined
  let file: number | undefined
  const release = () => {
    // To close the file gives up every lock that this process has on it.
    if (file !== undefined) closeSync(file)
    lock?.release()
  }
  try {
    lock = lockDatabase(path, now)
    file = openSync(path, 'r+')
    const isClean = prepareFile(db, path, file, progress)
    db.close()
    return { file, isClean, release }
  } catch (error) {
    db.close()
    release()
    throw error
  }
}

/** Throws StoreRefused: held by another process, written by a newer program, or not durable. */
export const holdDatabase = (path: string, now: number, progress: Progress = () => {}): Held =>
  explaining(path, () => openLocked(path, now, progress))
