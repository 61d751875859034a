/** Connections to the SQLite database, configured so that commits survive power loss. */
import { resolve } from 'node:path'
import { DatabaseSync, type SQLInputValue, type StatementResultingChanges } from 'node:sqlite'
import { StoreRefused, StoreUnavailable } from '../../port/errors.ts'
import { refuseUnsafe } from './version.ts'

export const BUSY_TIMEOUT_MS = 5_000

const SYNCHRONOUS_FULL = 2

const SECURE_DELETE_ON = 1

export const pathOf = (databaseUrl: string): string =>
  resolve(databaseUrl.replace(/^sqlite:(\/\/)?/, ''))

/** A prepared statement with typed rows. */
export interface Statement<Row> {
  get(...values: SQLInputValue[]): Row | undefined
  all(...values: SQLInputValue[]): Row[]
  iterate(...values: SQLInputValue[]): Iterable<Row>
  run(...values: SQLInputValue[]): StatementResultingChanges
}

/**
 * Prepared once. SQLite plans by the value of a bare LIMIT parameter and prepares the statement
 * again on every bind, which takes longer than most statements: hence LIMIT +?.
 */
export const prepare = <Row = never>(db: DatabaseSync, sql: string): Statement<Row> =>
  db.prepare(sql) as unknown as Statement<Row>

/** Rows as tuples cost a third of objects, which matters on the hot path. */
export function prepareTuples<Row extends readonly unknown[]>(
  db: DatabaseSync,
  sql: string,
): Statement<Row> {
  const statement = db.prepare(sql)
  statement.setReturnArrays(true)
  return statement as unknown as Statement<Row>
}

const scalar = (db: DatabaseSync, sql: string): unknown =>
  Object.values(db.prepare(sql).get() ?? {})[0]

/**
 * The only writing connection. Throws StoreRefused if it is not durable, or cannot overwrite
 * deleted content.
 */
export function openWriter(path: string): DatabaseSync {
  refuseUnsafe()
  const db = new DatabaseSync(path, {
    timeout: BUSY_TIMEOUT_MS,
    enableForeignKeyConstraints: true,
  })
  const mode = scalar(db, 'PRAGMA journal_mode = WAL')
  if (mode !== 'wal') throw new StoreRefused(`${path} cannot use write-ahead logging (${mode}).`)
  // fullfsync reaches the platter where fsync does not (macOS); elsewhere it has no effect.
  db.exec('PRAGMA synchronous = FULL; PRAGMA fullfsync = ON')
  if (scalar(db, 'PRAGMA synchronous') !== SYNCHRONOUS_FULL) {
    throw new StoreRefused(`${path} does not keep synchronous = FULL.`)
  }
  db.exec('PRAGMA secure_delete = ON')
  if (scalar(db, 'PRAGMA secure_delete') !== SECURE_DELETE_ON) {
    throw new StoreRefused(`${path} does not overwrite what is deleted (secure_delete).`)
  }
  return db
}

/** The most bytes that SQLite maps; the rest is read normally. */
const MAPPED_BYTES = 2_147_418_112

/** Lets a connection read from the page cache, without a system call and a copy per page. */
export function mapped(db: DatabaseSync): DatabaseSync {
  db.exec(`PRAGMA mmap_size = ${MAPPED_BYTES}`)
  return db
}

/** Closes the connection afterwards, also where the work fails. */
export function using<T>(db: DatabaseSync, work: (db: DatabaseSync) => T): T {
  try {
    return work(db)
  } finally {
    db.close()
  }
}

export const openReader = (path: string): DatabaseSync =>
  new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS })

type Transact = <T>(work: () => T) => T

/** Prepares BEGIN and COMMIT once, for connections with many transactions. */
export function prepareTransact(db: DatabaseSync): Transact {
  const begin = prepare(db, 'BEGIN IMMEDIATE')
  const commit = prepare(db, 'COMMIT')
  return (work) => {
    begin.run()
    try {
      const result = work()
      commit.run()
      return result
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK')
      throw error
    }
  }
}

export const transact = <T>(db: DatabaseSync, work: () => T): T => prepareTransact(db)(work)

/** Primary result codes of storage errors, as opposed to errors of the statement. */
const STORAGE_FAULTS = new Set([5, 6, 8, 10, 11, 14, 26])

/** SQLITE_IOERR_FSYNC: written, but possibly not durable. */
const FSYNC_FAILED = 1034

const DISK_FULL = 13

/**
 * `unknown`: whether the commit survives a crash is not known; with the others nothing was changed.
 */
export type StorageFault = 'unavailable' | 'full' | 'unknown'

export function storageFault(error: unknown): StorageFault | undefined {
  const code = (error as { errcode?: unknown } | null)?.errcode
  if (code === FSYNC_FAILED) return 'unknown'
  if (code === DISK_FULL) return 'full'
  return typeof code === 'number' && STORAGE_FAULTS.has(code & 0xff) ? 'unavailable' : undefined
}

/** Translates SQLite's read errors to the port's. */
export const translate = (error: unknown): unknown =>
  storageFault(error)
    ? new StoreUnavailable('the database does not answer', { cause: error })
    : error
