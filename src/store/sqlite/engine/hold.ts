/** A database file made ready: held by this process alone, its schema up to date. */
import { StoreRefused } from '../../port/errors.ts'
import { migrate } from '../schema/migrations.ts'
import { openWriter } from './connection.ts'
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

/** Brings the schema up to date under the lock, before the writer's thread has its connection. */
function openLocked(path: string, now: number): ProcessLock {
  const db = openWriter(path)
  let lock: ProcessLock | undefined
  try {
    lock = lockDatabase(path, now)
    migrate(db, path)
    return lock
  } catch (error) {
    lock?.release()
    throw error
  } finally {
    db.close()
  }
}

/** Throws StoreRefused: held by another process, written by a newer program, or not durable. */
export const holdDatabase = (path: string, now: number): ProcessLock =>
  explaining(path, () => openLocked(path, now))
