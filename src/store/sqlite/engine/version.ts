/** The version of SQLite, which is Node's own or the system's. */
import { DatabaseSync } from 'node:sqlite'
import { StoreRefused } from '../../port/errors.ts'

/** Older versions can corrupt a database when the log restarts. */
const OLDEST_SAFE_VERSION = [3, 51, 3] as const

/** What is wrong with this version. */
export function unsafe(version: string): string | undefined {
  const found = version.split('.').map(Number)
  const differing = OLDEST_SAFE_VERSION.findIndex((part, i) => part !== found[i])
  if (differing < 0 || (found[differing] ?? 0) > (OLDEST_SAFE_VERSION[differing] ?? 0)) {
    return undefined
  }
  return `SQLite ${version} can corrupt a write-ahead log.`
}

/** What to do about it. */
export const SAFE = `Run a Node.js with SQLite ${OLDEST_SAFE_VERSION.join('.')} or newer: nodejs.org's own has it from 24.15 on, and of 25 from 25.9 on.`

/** The linked library, which can differ from the one Node was built with. */
export function versionInUse(): string {
  const db = new DatabaseSync(':memory:')
  try {
    return String(db.prepare('SELECT sqlite_version() AS version').get()?.version)
  } finally {
    db.close()
  }
}

/** Throws StoreRefused. */
export function refuseUnsafe(): void {
  const fault = unsafe(versionInUse())
  if (fault) throw new StoreRefused(`${fault} ${SAFE}`)
}
