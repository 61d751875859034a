/**
 * Copies everything from one engine to the other in one transaction: the target stays empty until
 * all of it has been copied, counted and compared. Here from SQLite to PostgreSQL; the other way is
 * in to-sqlite.ts.
 */
import { existsSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import type { Timers } from '../../timers.ts'
import { StoreRefused } from '../port/errors.ts'
import { explaining } from '../postgres/engine/checks.ts'
import {
  type Connections,
  openConnections,
  type Statement,
  statement,
  unprepared,
} from '../postgres/engine/connections.ts'
import { hostsOf } from '../postgres/engine/hosts.ts'
import type { Ask } from '../postgres/engine/session.ts'
import { prepareServer } from '../postgres/schema/migrations.ts'
import { readFileOf } from '../sqlite/check/still.ts'
import { openReader, pathOf } from '../sqlite/engine/connection.ts'
import { databaseFile } from '../sqlite/engine/files.ts'
import { explaining as explainingFile, lockDatabase } from '../sqlite/engine/lock.ts'
import { isOfThisProgram, versionsOf } from '../sqlite/schema/migrations.ts'
import { digester, type Moved, type Progress, type Row, rowsOf } from './digests.ts'
import { holdsNothing, type Table, tables } from './tables.ts'
import { moveToSqlite } from './to-sqlite.ts'

/** Rows in flight. */
const BATCH_ROWS = 500
const BATCH_CHARS = 1_000_000
const BATCH_MS = 60_000

function* batches(rows: Iterable<Row>): Generator<Row[]> {
  let batch: Row[] = []
  let chars = 0
  for (const row of rows) {
    batch.push(row)
    for (const value of row) {
      chars += typeof value === 'string' || value instanceof Uint8Array ? value.length : 8
    }
    if (batch.length < BATCH_ROWS && chars < BATCH_CHARS) continue
    yield batch
    batch = []
    chars = 0
  }
  if (batch.length > 0) yield batch
}

/** One array per column: a batch is one statement. */
function insertInto({ name, columns, derived }: Table): Statement<never> {
  const all = [...columns, ...(derived ? [{ name: derived.name, type: 'TEXT' }] : [])]
  const names = all.map((column) => column.name).join(', ')
  const stored = [...columns.map((c) => c.name), ...(derived ? [derived.stored(derived.name)] : [])]
  const arrays = all.map(({ type }, i) => `$${i + 1}::${type}[]`).join(', ')
  return statement(
    `INSERT INTO ${name} (${names}) SELECT ${stored.join(', ')} FROM unnest(${arrays}) AS t (${names})`,
  )
}

async function copyTable(
  ask: Ask,
  source: DatabaseSync,
  table: Table,
  progress: Progress,
): Promise<Moved> {
  const insert = insertInto(table)
  const total = source.prepare(`SELECT count(*) AS rows FROM (${table.source})`).get()?.rows
  const digest = digester()
  for (const batch of batches(rowsOf(source, table))) {
    for (const row of batch) digest.add(row)
    const columns: unknown[] = table.columns.map((_, i) => batch.map((row) => row[i]))
    if (table.derived) columns.push(batch.map(table.derived.of))
    await ask(insert, ...columns)
    progress(table.name, digest.result().rows, Number(total))
  }
  return { table: table.name, ...digest.result() }
}

async function digestOf(ask: Ask, { name, columns }: Table): Promise<Moved> {
  const names = columns.map((column) => column.name)
  const digest = digester()
  await ask(
    unprepared(`DECLARE moved NO SCROLL CURSOR FOR SELECT ${names.join(', ')} FROM ${name}`),
  )
  const fetch = unprepared<Record<string, Row[number]>>(`FETCH ${BATCH_ROWS} FROM moved`)
  for (let rows = await ask(fetch); rows.length > 0; rows = await ask(fetch)) {
    for (const row of rows) digest.add(names.map((column) => row[column] ?? null))
  }
  await ask(unprepared('CLOSE moved'))
  return { table: name, ...digest.result() }
}

async function refuseUnlessEmpty(ask: Ask): Promise<void> {
  for (const { name } of tables) {
    const rows = await ask(unprepared(`SELECT 1 FROM ${name} LIMIT 1`))
    if (rows.length > 0) {
      throw new StoreRefused(
        `The target is not empty: ${name} has rows. Move to an empty database.`,
      )
    }
  }
}

function refuseUnknownTables(source: DatabaseSync): void {
  const known = new Set(tables.map(({ name }) => name))
  const found = source.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all()
  for (const { name } of found) {
    if (known.has(String(name)) || holdsNothing.test(String(name))) continue
    throw new StoreRefused(`The source has a table that this program cannot move: ${name}.`)
  }
}

const copyAll = (source: DatabaseSync, progress: Progress) => async (ask: Ask) => {
  await refuseUnlessEmpty(ask)
  const moved: Moved[] = []
  for (const table of tables) {
    const copied = await copyTable(ask, source, table, progress)
    const arrived = await digestOf(ask, table)
    if (arrived.rows !== copied.rows || arrived.digest !== copied.digest) {
      throw new StoreRefused(`${table.name} did not arrive as it left. Nothing was moved.`)
    }
    moved.push(copied)
  }
  return moved
}

/** Migrates the source, and holds its lock while it is read. */
function openSource(databaseUrl: string, now: number, timers: Timers) {
  const named = pathOf(databaseUrl)
  if (!existsSync(named)) throw new StoreRefused(`There is no database at ${named}.`)
  const path = databaseFile(named)
  const isEmpty = explainingFile(path, () => readFileOf(path, versionsOf)).version === 0
  if (isEmpty) throw new StoreRefused(`${path} is not a database of Agent Home.`)
  const lock = lockDatabase(path, now, timers)
  const source = openReader(path)
  if (!isOfThisProgram(source)) {
    source.close()
    lock.release()
    throw new StoreRefused(`${path} was changed by a newer program, which alone can move it.`)
  }
  return {
    source,
    close() {
      source.close()
      lock.release()
    },
  }
}

async function openTarget(databaseUrl: string, timers: Timers): Promise<Connections> {
  const hosts = hostsOf(databaseUrl)
  await prepareServer(hosts, timers, () => {})
  return openConnections(hosts, 1, 'agent-home move', { timers, statementMs: BATCH_MS })
}

async function moveToPostgres(
  from: string,
  to: string,
  now: number,
  timers: Timers,
  progress: Progress,
): Promise<Moved[]> {
  const { source, close } = openSource(from, now, timers)
  try {
    refuseUnknownTables(source)
    const target = await openTarget(to, timers)
    try {
      return await target.transact(copyAll(source, progress))
    } finally {
      await target.close()
    }
  } finally {
    close()
  }
}

/** A disk that is full or a page that is damaged shows only while rows are copied. */
async function explainingMove<T>(file: string, server: string, work: () => Promise<T>): Promise<T> {
  try {
    return await explaining(server, work)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code !== 'ERR_SQLITE_ERROR') throw error
    const sentence = `${pathOf(file)} cannot be read or written: ${message}. Nothing was moved.`
    throw new StoreRefused(sentence, { cause: error })
  }
}

const isSqlite = (url: string): boolean => url.startsWith('sqlite:')
const isPostgres = (url: string): boolean => /^postgres(ql)?:/.test(url)

/**
 * Throws StoreRefused if the source is in use, if the target is not empty or not safe, or if the
 * copy differs. Nothing has been moved then.
 */
export async function move(
  from: string,
  to: string,
  now: number,
  timers: Timers,
  progress: Progress,
): Promise<Moved[]> {
  if (isSqlite(from) && isPostgres(to)) {
    const moving = () => moveToPostgres(from, to, now, timers, progress)
    return explainingMove(from, to, moving)
  }
  if (isPostgres(from) && isSqlite(to)) {
    return explainingMove(to, from, () => moveToSqlite(from, to, now, timers, progress))
  }
  throw new StoreRefused(
    'A move is from sqlite:… to postgres://…, or from postgres://… to sqlite:…. Between two of one kind, use a backup.',
  )
}
