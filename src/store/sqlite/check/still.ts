/** Reads a database file without writing to it or creating files beside it. */
import { existsSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { openReader, using } from '../engine/connection.ts'

const isAlone = (path: string): boolean => !existsSync(`${path}-wal`)

/**
 * Changes with every write; a running service resets the modification time, so that alone is not
 * enough.
 */
function stampOf(path: string): string {
  const { ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true })
  return [ino, size, mtimeNs, ctimeNs].join()
}

/** Opened as immutable, since SQLite would otherwise create a log and its index. */
const openStill = (path: string): DatabaseSync =>
  new DatabaseSync(new URL(`${pathToFileURL(path).href}?immutable=1`), { readOnly: true })

/** A consistent copy of the file, also while a service writes it: read twice and compared. */
export function readFileOf<T>(path: string, read: (db: DatabaseSync) => T): T {
  if (!isAlone(path)) return using(openReader(path), read)
  const before = stampOf(path)
  const isSame = () => isAlone(path) && stampOf(path) === before
  let found: T
  try {
    found = using(openStill(path), read)
  } catch (error) {
    if (isSame()) throw error
    return using(openReader(path), read)
  }
  return isSame() ? found : using(openReader(path), read)
}
