/** The data as commands on the host reach it, whether the service runs or not. */
import { realpathSync, type Stats, statSync } from 'node:fs'
import { StoreRefused } from '../../port/errors.ts'
import type { Host } from '../../port/host.ts'
import type { StoreOptions } from '../../port/store.ts'
import { pathOf } from '../engine/connection.ts'
import { isOurs } from '../engine/files.ts'
import { DatabaseHeld } from '../engine/lock.ts'
import { openSqlite } from '../store.ts'
import { reachHolder } from './holder.ts'

/** A service that is starting or stopping holds the lock briefly without listening. */
const TRIES = 50
const PAUSE_MS = 100

const ofAnother = (path: string, who: string): StoreRefused =>
  new StoreRefused(
    `${path} belongs to another user${who}. Run this as that user, or as root while the service runs.`,
  )

/** Throws StoreRefused if it cannot be read. */
export function existingFile(path: string): { readonly file: string; readonly stats: Stats } {
  try {
    const file = realpathSync(path)
    return { file, stats: statSync(file) }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') throw ofAnother(path, '')
    throw new StoreRefused(
      `There is no database at ${path}. Set DATABASE_URL as the service has it.`,
      { cause: error },
    )
  }
}

const unresponsive = ({ path, holder }: DatabaseHeld): StoreRefused =>
  new StoreRefused(
    `${path} is in use by ${holder}, which does not answer. If that is the service, stop it, run this again, and start it.`,
  )

/**
 * Throws StoreRefused: no database, owned by another user, or held by a process that does not
 * answer.
 */
export async function reachSqlite(
  databaseUrl: string,
  now: number,
  options: StoreOptions,
): Promise<Host> {
  const { file, stats } = existingFile(pathOf(databaseUrl))
  for (let tries = 1; ; tries++) {
    const holder = await reachHolder(file)
    if (holder) return holder
    // Files created by root could not be used by the service.
    if (process.getuid && !isOurs(stats)) throw ofAnother(file, ` (uid ${stats.uid})`)
    try {
      return await openSqlite(databaseUrl, now, options)
    } catch (error) {
      if (!(error instanceof DatabaseHeld)) throw error
      if (tries === TRIES) throw unresponsive(error)
    }
    await options.timers.pause(PAUSE_MS)
  }
}
