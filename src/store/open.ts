/** DATABASE_URL -> the engine it names. */
import type { Host } from './port/host.ts'
import type { Progress, Store, StoreOptions } from './port/store.ts'

export const isPostgres = (databaseUrl: string): boolean => /^postgres(ql)?:/.test(databaseUrl)

/** Throws StoreRefused when the database may not be used. An engine is loaded when it is named. */
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
 * The data for the host's owner, whether it is served or not. Where one process alone may hold it,
 * that process is asked. Throws StoreRefused when the database may not be used.
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
