/** The file of a database: one name, whatever it was asked for by. */
import { closeSync, existsSync, mkdirSync, openSync, realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { StoreRefused } from '../../port/errors.ts'

/** SQLite keeps a log for each name, and a log that it does not find is lost. */
function refuseSecondName(path: string): void {
  const stats = statSync(path)
  if (stats.isFile() && stats.nlink > 1) {
    throw new StoreRefused(
      `${path} has another name as well (a hard link), and through both it would be corrupted. Remove the other, or make it a copy.`,
    )
  }
}

/**
 * The file that the path leads to, made where it is not there. Links are followed first: the lock
 * and the log lie beside the file itself. Throws StoreRefused when it has several names.
 */
export function databaseFile(path: string): string {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  // Only where it is new: closing a file gives up every lock that this process has on it.
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600))
  refuseSecondName(path)
  return realpathSync(path)
}
