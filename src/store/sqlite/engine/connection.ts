/** Connections to the embedded database, opened so that a commit survives power loss. */
import { resolve } from 'node:path'
import { DatabaseSync, type SQLInputValue, type StatementResultingChanges } from 'node:sqlite'
import { StoreRefused, StoreUnavailable } from '../../port/errors.ts'
import { refuseUnsafe } from './version.ts'

export const BUSY_TIMEOUT_MS = 5_000

const SYNCHRONOUS_FULL = 2

const SECURE_DELETE_ON = 1

export const pathOf = (databaseUrl: string): string =>
  resolve(databaseUrl.replace(/^sqlite:(\/\/)?/, ''))

/** A prepared statement whose rows have one known shape. */
export interface Statement<Row> {
  get(...values: SQLInputValue[]): Row | undefined
  all(...values: SQLInputValue[]): Row[]
  iterate(...values: SQLInputValue[]): Iterable<Row>
  run(...values: SQLInputValue[]): StatementResultingChanges
}

/**
 * Compiled once. SQLite looks at the value of a bare parameter of LIMIT to plan by it, and compiles
 * the statement anew whenever it is bound, which takes longer than most statements: so LIMIT +? it is.
 */
export const prepare = <Row = never>(db: DatabaseSync, sql: string): Statement<Row> =>
  db.prepare(sql) as unknown as Statement<Row>

/** Rows as tuples: they cost a third of what objects do, which counts on the hot path. */
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

/** The one writing connection. Throws StoreRefused when it can neither keep nor erase for good. */
export function openWriter(path: string): DatabaseSync {
  refuseUnsafe()
  const db = new DatabaseSync(path, {
    timeout: BUSY_TIMEOUT_MS,
    enableForeignKeyConstraints: true,
  })
  const mode = scalar(db, 'PRAGMA journal_mode = WAL')
  if (mode !== 'wal') throw new StoreRefused(`${path} cannot use write-ahead logging (${mode}).`)
  // fullfsync reaches the platter where plain fsync does not (macOS); elsewhere it changes nothing.
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

/** The most that SQLite maps, in bytes; what lies beyond is read as ever. */
const MAPPED_BYTES = 2_147_418_112

/** Lets a connection read the file where the system keeps it, without a call and a copy a page. */
export function mapped(db: DatabaseSync): DatabaseSync {
  db.exec(`PRAGMA mmap_size = ${MAPPED_BYTES}`)
  return db
}

export const openReader = (path: string): DatabaseSync =>
  new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS })

type Transact = <T>(work: () => T) => T

/** For who makes many: what begins and ends them is compiled once. */
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

/** Primary result codes that say the storage, not the statement, is at fault. */
const STORAGE_FAULTS = new Set([5, 6, 8, 10, 11, 14, 26])

/** SQLITE_IOERR_FSYNC: written, perhaps not kept. */
const FSYNC_FAILED = 1034

const DISK_FULL = 13

/** `unknown`: a commit whose outcome a crash may yet decide; with the others nothing was changed. */
export type StorageFault = 'unavailable' | 'full' | 'unknown'

export function storageFault(error: unknown): StorageFault | undefined {
  const code = (error as { errcode?: unknown } | null)?.errcode
  if (code === FSYNC_FAILED) return 'unknown'
  if (code === DISK_FULL) return 'full'
  return typeof code === 'number' && STORAGE_FAULTS.has(code & 0xff) ? 'unavailable' : undefined
}

/** What SQLite throws while reading, in the port's words. */
export const translate = (error: unknown): unknown =>
  storageFault(error)
    ? new StoreUnavailable('the database does not answer', { cause: error })
    : error
