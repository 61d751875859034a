/**
 * One process per database file. The lock is SQLite's own, on a file beside the database, so it is
 * released however the process ends; a second file names its holder.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { StoreRefused } from '../../port/errors.ts'

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
export function lockDatabase(path: string, now: number): ProcessLock {
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
