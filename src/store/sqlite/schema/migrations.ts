/** Creates the schema of a new database, or migrates that of an older program, in one transaction. */
import type { DatabaseSync } from 'node:sqlite'
import { StoreRefused } from '../../port/errors.ts'
import type { Progress } from '../../port/store.ts'
import { isUsable, OLDEST, SCHEMA, schemaOf, unknownSchema, type Versions } from '../../schema.ts'
import { prepare, transact } from '../engine/connection.ts'
import { upgrade } from './from-1.0.0.ts'

interface Step {
  readonly from: number
  readonly to: number
  /** The oldest program that may use the database afterwards; undefined: as before. */
  readonly oldest?: number
  readonly run: (db: DatabaseSync, progress: Progress) => void
}

/**
 * Every version that an import brings has an event of its own, beside which it keeps its author, its
 * time and its key. What an import had staged when its process ended goes.
 */
const fromTwo = (db: DatabaseSync): void =>
  db.exec(`
  DELETE FROM log WHERE n IN (
    SELECT i.n FROM staged_imports s JOIN homes h ON h.agent_id = s.agent_id
    JOIN log_index i ON i.agent_id = s.agent_id AND i.id < h.imports * -1000000000);
  DELETE FROM log_index WHERE EXISTS (
    SELECT 1 FROM staged_imports s JOIN homes h ON h.agent_id = s.agent_id
    WHERE s.agent_id = log_index.agent_id AND log_index.id < h.imports * -1000000000);
  DROP TABLE staged_imports;
  ALTER TABLE credentials ADD COLUMN woke_at INTEGER;
  ALTER TABLE credentials ADD COLUMN woke_event INTEGER;
  ALTER TABLE log ADD COLUMN event_author TEXT;
  ALTER TABLE log ADD COLUMN happened_at INTEGER;
  ALTER TABLE log ADD COLUMN made_as TEXT;
  CREATE TABLE unfinished (
    agent_id TEXT PRIMARY KEY REFERENCES agents (agent_id),
    event INTEGER NOT NULL,
    rollback TEXT
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE keyed_appends (
    agent_id TEXT NOT NULL,
    event INTEGER NOT NULL,
    key_hash TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    answer TEXT NOT NULL,
    made_at INTEGER NOT NULL,
    PRIMARY KEY (agent_id, event)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX keyed_appends_by_key ON keyed_appends (agent_id, key_hash)`)

const STEPS: readonly Step[] = [
  // 1.0.0
  { from: 4, to: 28, oldest: 28, run: upgrade },
  // 2.0.0
  { from: 26, to: 28, oldest: 28, run: fromTwo },
]

/** Version 0: an empty database, or none of ours. */
export function versionsOf(db: DatabaseSync): Versions {
  const table = prepare(db, "SELECT 1 FROM sqlite_schema WHERE name = 'schema_version'").get()
  if (table) {
    const found = prepare<Versions>(db, 'SELECT version, oldest FROM schema_version').get()
    if (found) return found
  }
  const version = Number(Object.values(db.prepare('PRAGMA user_version').get() ?? {})[0])
  return { version, oldest: version }
}

const isThere = (db: DatabaseSync, tables: string): boolean =>
  prepare(db, `SELECT 1 FROM sqlite_schema WHERE type = 'table' ${tables} LIMIT 1`).get() !==
  undefined

/** Throws StoreRefused if another program made it: nothing of ours may be written there. */
export function refuseForeign(db: DatabaseSync, path: string): void {
  const isOurs =
    versionsOf(db).version > 0 && isThere(db, "AND name IN ('agents', 'schema_version')")
  if (isOurs || !isThere(db, '')) return
  throw new StoreRefused(`${path} is not a database of Agent Home. Check DATABASE_URL.`)
}

/** A newer program that took nothing away may have added what this one does not know. */
export const isOfThisProgram = (db: DatabaseSync): boolean => versionsOf(db).version === SCHEMA

function take(db: DatabaseSync, versions: Versions, path: string, progress: Progress): Versions {
  if (versions.version === 0) {
    db.exec(schemaOf('sqlite'))
    return { version: SCHEMA, oldest: OLDEST }
  }
  const step = STEPS.find(({ from }) => from === versions.version)
  if (!step) throw new StoreRefused(unknownSchema(path, versions))
  step.run(db, progress)
  return { version: step.to, oldest: step.oldest ?? versions.oldest }
}

function takeAll(db: DatabaseSync, path: string, progress: Progress): void {
  const found = versionsOf(db)
  let { version, oldest } = found
  while (!isUsable({ version, oldest })) {
    ;({ version, oldest } = take(db, { version, oldest }, path, progress))
  }
  if (version === found.version) return
  prepare(db, 'INSERT OR REPLACE INTO schema_version (id, version, oldest) VALUES (1, ?, ?)').run(
    version,
    oldest,
  )
  db.exec(`PRAGMA user_version = ${version}`)
}

/**
 * Returns the number of migrated memories, or 0. The changes are then still in the log. Throws
 * StoreRefused if the schema is unknown, or too new for this program.
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
    takeAll(db, path, tell)
    if (total > 0) progress(done, total, true)
  })
  db.exec('PRAGMA foreign_keys = ON')
  return total
}
