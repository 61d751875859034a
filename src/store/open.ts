/** DATABASE_URL -> the engine it names. */
import type { Store } from './port.ts'
import { openSqlite } from './sqlite/store.ts'

/** Throws StoreRefused when the database may not be used. */
export function openStore(databaseUrl: string, now: number): Promise<Store> {
  return openSqlite(databaseUrl, now)
}
