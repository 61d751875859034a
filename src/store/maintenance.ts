/** Data at rest, on either engine. */
import { resolve } from 'node:path'
import type { Timers } from '../timers.ts'
import { isPostgres } from './open.ts'
import type { Checking, Examined, Finding, Verified } from './port/check.ts'
import { StoreRefused } from './port/errors.ts'

/** A database file, or a live database by its URL. Throws StoreRefused if this program cannot read it. */
export async function verifyDatabase(
  place: string,
  timers: Timers,
  checking: Checking,
): Promise<Verified> {
  if (isPostgres(place)) {
    const { verifyServer } = await import('./postgres/check/verify.ts')
    return verifyServer(place, timers, checking)
  }
  const { verifyFile } = await import('./sqlite/check/verify.ts')
  return verifyFile(resolve(place), checking)
}

/** For people: a database without its password and options, and a file as it is. */
export const nameOf = (place: string): string =>
  isPostgres(place) ? place.replace(/^(\w+:\/\/[^:@/]*):.*@/, '$1@').replace(/\?.*/, '') : place

const ofServer = (databaseUrl: string): StoreRefused =>
  new StoreRefused(
    `The data is in PostgreSQL, whose own program makes its backups, while the service runs too:

  pg_dump --format=custom --file=home.dump '${nameOf(databaseUrl)}'

pg_restore brings one back into an empty database, and agent-home verify checks either of them.`,
  )

/**
 * Writes a consistent copy of the data into an empty file and returns the path that it was taken
 * from. Throws StoreRefused if there is no database, if it cannot be read, or if the engine has its
 * own backup program.
 */
export async function copyDatabase(
  databaseUrl: string,
  target: string,
  copying: Checking,
  timers: Timers,
): Promise<string> {
  if (isPostgres(databaseUrl)) throw ofServer(databaseUrl)
  const copy = await import('./sqlite/check/backup.ts')
  return copy.copyDatabase(databaseUrl, target, copying, timers)
}

/** Checks the data and the environment that it is in. Changes nothing. */
export async function examine(examined: Examined): Promise<Finding[]> {
  if (isPostgres(examined.databaseUrl)) {
    const { examineServer } = await import('./postgres/engine/checks.ts')
    return examineServer(examined)
  }
  const { examineFile } = await import('./sqlite/check/examine.ts')
  return examineFile(examined)
}
