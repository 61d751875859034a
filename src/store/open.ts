/** Opens the engine that DATABASE_URL names. */
import type { Host } from './port/host.ts'
import type { Progress, Store, StoreOptions } from './port/store.ts'

export const isPostgres = (databaseUrl: string): boolean => /^postgres(ql)?:/.test(databaseUrl)

/** Throws StoreRefused if the database cannot be used. Only the named engine is loaded. */
export async function openStore(
  databaseUrl: string,
  now: number,
  options: StoreOptions,
  progress: Progress = () => {},
): Promise<Store> {
  if (isPostgres(databaseUrl)) {
    const { openPostgres } = await import('./postgres/store.ts')
    return openPostgres(databaseUrl, options, progress)
  }
  const { openSqlite } = await import('./sqlite/store.ts')
  return openSqlite(databaseUrl, now, options, progress)
}

/**
 * The data for commands on the host, whether the service runs or not: if another process holds the
 * database, that process is asked. Throws StoreRefused if the database cannot be used.
 */
export async function openHost(
  databaseUrl: string,
  now: number,
  options: StoreOptions,
): Promise<Host> {
  if (isPostgres(databaseUrl)) return openStore(databaseUrl, now, options)
  const { reachSqlite } = await import('./sqlite/control/reach.ts')
  return reachSqlite(databaseUrl, now, options)
}
