/** Data at rest, whatever engine keeps it. */
import { resolve } from 'node:path'
import { isPostgres } from './open.ts'
import { StoreRefused } from './port/errors.ts'
import type { Checking, Examined, Finding, Verified } from './port/rest.ts'

/** Throws StoreRefused: the file is none that this program can read. */
export async function verifyFile(file: string, checking: Checking): Promise<Verified> {
  const { verifyDatabase } = await import('./sqlite/rest/verify.ts')
  return verifyDatabase(resolve(file), checking)
}

/** Nobody's password stands in a command that is shown. */
const withoutPassword = (databaseUrl: string): string =>
  databaseUrl.replace(/^(\w+:\/\/[^:@/]*):[^@]*@/, '$1@').replace(/\?.*/, '')

const ofServer = (databaseUrl: string): StoreRefused =>
  new StoreRefused(
    `The data is in PostgreSQL, whose own program makes its backups, while the service runs too:

  pg_dump --format=custom --file=home.dump '${withoutPassword(databaseUrl)}'

and pg_restore brings one back into an empty database.`,
  )

/**
 * Writes one moment of the data into an empty file, and answers where it was taken from. Throws
 * StoreRefused: none there, not to be read, or an engine that has a program of its own for it.
 */
export async function copyDatabase(
  databaseUrl: string,
  target: string,
  copying: Checking,
): Promise<string> {
  if (isPostgres(databaseUrl)) throw ofServer(databaseUrl)
  const copy = await import('./sqlite/rest/backup.ts')
  return copy.copyDatabase(databaseUrl, target, copying)
}

/** What is right and wrong with the data and with what keeps it. It changes nothing. */
export async function examine(examined: Examined): Promise<Finding[]> {
  if (isPostgres(examined.databaseUrl)) {
    const { examineServer } = await import('./postgres/rest/examine.ts')
    return examineServer(examined)
  }
  const { examineFile } = await import('./sqlite/rest/examine.ts')
  return examineFile(examined)
}
