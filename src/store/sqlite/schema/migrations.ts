/** Creates the schema of a new database, or migrates from 1.0.0. */
import type { DatabaseSync } from 'node:sqlite'
import { StoreRefused } from '../../port/errors.ts'
import type { Progress } from '../../port/store.ts'
import { SCHEMA, schemaOf, unknownSchema } from '../../schema.ts'
import { transact } from '../engine/connection.ts'
import { upgrade } from './from-1.0.0.ts'

/** The schema version of 1.0.0. */
const RELEASED = 4

const versionOf = (db: DatabaseSync): number =>
  Number(Object.values(db.prepare('PRAGMA user_version').get() ?? {})[0])

function step(db: DatabaseSync, path: string, progress: Progress): void {
  const version = versionOf(db)
  if (version === SCHEMA) return
  if (version === RELEASED) upgrade(db, progress)
  else if (version === 0) db.exec(schemaOf('sqlite'))
  else throw new StoreRefused(unknownSchema(path, version))
  db.exec(`PRAGMA user_version = ${SCHEMA}`)
}

/**
 * Returns the number of migrated memories, or 0. The changes are then still in the log. Throws
 * StoreRefused if the schema is newer or unknown.
 */
export function migrate(db: DatabaseSync, path: string, progress: Progress = () => {}): number {
  let [done, total] = [0, 0]
  const tell: Progress = (...told) => {
    ;[done, total] = told
    progress(...told)
  }
  // A table is replaced that others refer to. The pragma has no effect within a transaction.
  db.exec('PRAGMA foreign_keys = OFF')
  transact(db, () => {
    step(db, path, tell)
    if (total > 0) progress(done, total, true)
  })
  db.exec('PRAGMA foreign_keys = ON')
  return total
}
