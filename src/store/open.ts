/** DATABASE_URL -> the engine it names. */
import type { Store } from './port.ts'
import { openPostgres } from './postgres/store.ts'
import { openSqlite } from './sqlite/store.ts'

/** Throws StoreRefused when the database may not be used. */
export const openStore = (databaseUrl: string, now: number): Promise<Store> =>
  /^postgres(ql)?:/.test(databaseUrl) ? openPostgres(databaseUrl) : openSqlite(databaseUrl, now)
