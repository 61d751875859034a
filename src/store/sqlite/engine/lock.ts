/**
 * Opens a database file: locked by this process, and migrated.
 *
 * One process per file. The lock is SQLite's own, on a file beside the database, so it is released
 * however the process ends; a second file names its holder.
 */
import { closeSync, existsSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import type { Timers } from '../../../timers.ts'
import { StoreRefused } from '../../port/errors.ts'
import type { Progress } from '../../port/store.ts'
import { eraseLeft } from '../erase-agent.ts'
import { migrate, refuseForeign, versionsOf } from '../schema/migrations.ts'
import { prepareUpkeep } from './checkpoint.ts'
import { openReader, openWriter, transact, using } from './connection.ts'

export class DatabaseHeld extends StoreRefused {
  readonly path: string
  /** The process that holds it, in words. */
  readonly holder: string
  constructor(path: string, holder: string, cause: unknown) {
    super(
      `${path} is in use by ${holder}. Stop that process, or give this one another DATABASE_URL.`,
      { cause },
    )
    this.path = path
    this.holder = holder
  }
}

export interface ProcessLock {
  release(): void
}

const ownerFile = (path: string): string => `${path}.owner`

function holder(path: string): string {
  try {
    const owner = JSON.parse(readFileSync(ownerFile(path), 'utf8')) as {
      pid: number
      since: string
    }
    return `process ${owner.pid} (since ${owner.since})`
  } catch {
    return 'another process'
  }
}

/** Throws DatabaseHeld with the name of the holder. */
export function lockProcesses(path: string, now: number): ProcessLock {
  const db = new DatabaseSync(`${path}.lock`, { timeout: 0 })
  try {
    db.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
  } catch (cause) {
    db.close()
    throw new DatabaseHeld(path, holder(path), cause)
  }
  const owner = { pid: process.pid, since: new Date(now).toISOString() }
  writeFileSync(ownerFile(path), JSON.stringify(owner), { mode: 0o600 })
  return {
    release() {
      rmSync(ownerFile(path), { force: true })
      db.close()
    },
  }
}

/** Translates SQLite's error on a file for the person who configured it. */
export function explaining<T>(path: string, open: () => T): T {
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

export interface LockedDatabase {
  /** The database's descriptor, open for reading and writing until released. */
  readonly file: number
  /** No deleted content is left in it. */
  readonly isClean: boolean
  /** It was empty, and has its tables now. */
  readonly isNew: boolean
  /** Call once all connections are closed. */
  readonly release: () => void
}

/** Migrates the schema, and checkpoints the log that an earlier process has left. */
function prepareFile(
  db: DatabaseSync,
  path: string,
  file: number,
  timers: Timers,
  progress: Progress,
): Pick<LockedDatabase, 'isClean' | 'isNew'> {
  const upkeep = prepareUpkeep(db, path, file, timers)
  try {
    const isNew = versionsOf(db).version === 0
    const memories = migrate(db, path, progress)
    transact(db, () => eraseLeft(db))
    const isClean = upkeep.clean() === 'done'
    if (memories > 0) progress(memories, memories)
    return { isClean, isNew }
  } finally {
    upkeep.close()
  }
}

/** Under the lock, before the writer thread opens its connection. */
function openLocked(path: string, now: number, timers: Timers, progress: Progress): LockedDatabase {
  const db = openWriter(path)
  let lock: ProcessLock | undefined
  let file: number | undefined
  const release = () => {
    // Closing the descriptor releases all locks of this process on the file.
    if (file !== undefined) closeSync(file)
    lock?.release()
  }
  try {
    lock = lockProcesses(path, now)
    file = openSync(path, 'r+')
    const prepared = prepareFile(db, path, file, timers, progress)
    db.close()
    return { file, ...prepared, release }
  } catch (error) {
    db.close()
    release()
    throw error
  }
}

/** Read first: a connection that writes changes the mode of the file. */
function refuseForeignFile(path: string): void {
  if (!existsSync(path)) return
  using(openReader(path), (db) => refuseForeign(db, path))
}

/** Throws StoreRefused: held by another process, of another program, written by a newer program, or not durable. */
export const lockDatabase = (
  path: string,
  now: number,
  timers: Timers,
  progress: Progress = () => {},
): LockedDatabase =>
  explaining(path, () => {
    refuseForeignFile(path)
    return openLocked(path, now, timers, progress)
  })
