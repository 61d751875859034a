/** DATABASE_URL -> the engine it names. */
import type { Progress, Store, StoreOptions } from './port/store.ts'

/** Throws StoreRefused when the database may not be used. An engine is loaded when it is named. */
export async function openStore(
  databaseUrl: string,
  now: number,
  options: StoreOptions,
  progress: Progress = () => {},
): Promise<Store> {
  if (/^postgres(ql)?:/.test(databaseUrl)) {
    const { openPostgres } = await import('./postgres/store.ts')
    return openPostgres(databaseUrl, options, progress)
  }
  const { openSqlite } = await import('./sqlite/store.ts')
  return openSqlite(databaseUrl, now, options)
}
