/**
 * Copies everything from PostgreSQL to SQLite in one transaction. What arrived is read as a move the
 * other way would read it (tables.ts), counted and compared before the commit.
 */

import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import type { Timers } from '../../timers.ts'
import { markColumns } from '../marks.ts'
import { StoreRefused } from '../port/errors.ts'
import { OPERATIONS } from '../port/memories.ts'
import { openConnections, statement, unprepared } from '../postgres/engine/connections.ts'
import { hostsOf, locationOf } from '../postgres/engine/hosts.ts'
import type { Ask } from '../postgres/engine/session.ts'
import { joinedWords } from '../postgres/engine/words.ts'
import { broughtAsItWas } from '../postgres/memories/brought.ts'
import { prepareServer } from '../postgres/schema/migrations.ts'
import { SNAPSHOT } from '../postgres/transfer/export.ts'
import { SCHEMA } from '../schema.ts'
import { openWriter, pathOf, prepare } from '../sqlite/engine/connection.ts'
import { databaseFile } from '../sqlite/engine/files.ts'
import { lockDatabase } from '../sqlite/engine/lock.ts'
import { digester, type Moved, type Progress, type Row, rowsOf } from './digests.ts'
import { type Table, tables } from './tables.ts'

const FETCH_ROWS = 500

const list = (names: readonly string[]): string => names.join(', ')

const namesOf = ({ columns }: Table): string[] => columns.map(({ name }) => name)

/** Rows of an agent that was erased, of which some may be left, are no longer its own. */
const homed = (alias: string): string => `JOIN homes h ON h.agent_id = ${alias}.agent_id`

const versionAt = (place: string): string => `
  (SELECT v.n FROM log v WHERE v.agent_id = l.agent_id AND v.n = ${place} AND v.kept)`

const otherEvent = (then: string): string =>
  `CASE WHEN l.kept AND ${broughtAsItWas('l')} THEN ${then} END`
const ofVersion = (column: string): string => `CASE WHEN l.kept THEN l.${column} END`
const ofEvent = (event: string, version: string): string =>
  `CASE WHEN l.kept THEN l.${version} ELSE coalesce(l.${event}, l.${version}) END`

const LOG = `
  SELECT l.agent_id, l.key, l.renamed_from, ${ofVersion('memory_id')},
    ${ofEvent('event', 'operation')}, ${ofEvent('event_author', 'author')},
    ${otherEvent('coalesce(l.event, l.operation)')},
    ${otherEvent('coalesce(l.event_author, l.author)')},
    ${ofVersion('metadata')}, ${ofVersion('text')}, ${ofVersion('made_as')}, l.n,
    CASE WHEN l.kept THEN ${versionAt('l.previous')} END, l.version, ${ofVersion('created_at')},
    ${ofEvent('happened_at', 'updated_at')}, ${ofVersion('happened_at')},
    CASE WHEN l.kept THEN l.bytes ELSE 0 END, CASE WHEN l.kept THEN l.size ELSE 0 END, l.kept,
    l.hash, l.content, ${ofVersion('salt')}
  FROM log l ${homed('l')}
  WHERE l.kept OR l.n >= h.first_event ORDER BY l.agent_id, l.n`

/** What is read of a table in another way than column by column. */
const sources: Readonly<Record<string, string>> = {
  memories: `
    SELECT l.agent_id, l.key, l.id, l.version, l.created_at, l.updated_at, l.size,
      ${versionAt('l.n')}, l.deleted, l.pinned, ${markColumns('l')} FROM memories l ${homed('l')}`,
  vectors: `
    SELECT v.agent_id, v.key, v.model, v.version, v.n, v.vector FROM vectors v ${homed('v')}`,
  log: LOG,
  unfinished: `
    SELECT u.agent_id, u.event, u.rollback, '', 0::BIGINT FROM unfinished u ${homed('u')}`,
  daily_writes: `
    SELECT agent_id, day, sum(writes)::BIGINT FROM (
      SELECT agent_id, day, writes FROM daily_writes
      UNION ALL SELECT agent_id, day, day_writes FROM homes WHERE day_writes > 0
    ) AS counted GROUP BY agent_id, day`,
}

const sourceOf = (table: Table): string => {
  const order = table.name === 'entries' ? ' ORDER BY id' : ''
  const plain = `SELECT ${list(namesOf(table))} FROM ${table.name}${order}`
  const names = table.columns.map((_, i) => `c${i}`)
  return `SELECT * FROM (${sources[table.name] ?? plain}) AS t (${list(names)})`
}

async function* readAll(ask: Ask, table: Table): AsyncGenerator<Row[]> {
  await ask(unprepared(`DECLARE moved NO SCROLL CURSOR FOR ${sourceOf(table)}`))
  const fetch = unprepared<Record<string, Row[number]>>(`FETCH ${FETCH_ROWS} FROM moved`)
  for (let rows = await ask(fetch); rows.length > 0; rows = await ask(fetch)) {
    yield rows.map((row) => table.columns.map((_, i) => row[`c${i}`] ?? null))
  }
  await ask(unprepared('CLOSE moved'))
}

type Insert = (row: Row) => void

const stored = (value: Row[number] | undefined): SQLInputValue =>
  typeof value === 'boolean' ? Number(value) : (value ?? null)

function insertInto(db: DatabaseSync, name: string, columns: readonly string[]): Insert {
  const marks = columns.map(() => '?')
  const insert = prepare(db, `INSERT INTO ${name} (${list(columns)}) VALUES (${list(marks)})`)
  return (row) => void insert.run(...row.map(stored))
}

/** `previous` is a place until all are there. */
function insertLog(db: DatabaseSync, table: Table): Insert {
  const insert = insertInto(db, 'log', [
    ...['agent_id', 'id', 'event', 'key', 'renamed_from', 'version', 'author', 'updated_at'],
    ...['operation', 'previous', 'memory_id', 'created_at', 'bytes', 'size', 'hash', 'content'],
    ...['salt', 'metadata', 'text', 'event_author', 'happened_at', 'made_as'],
  ])
  return (values) => {
    const row = Object.fromEntries(namesOf(table).map((name, i) => [name, values[i] ?? null]))
    const of = (...names: readonly string[]) => names.map((name) => row[name] ?? null)
    const type = Number(row.n) > 0 ? (row.event ?? row.operation ?? null) : null
    const isVersion = row.kept === true
    insert([
      ...[...of('agent_id', 'n'), type, ...of('key', 'renamed_from', 'version', 'author')],
      ...[...of('updated_at'), isVersion ? (row.operation ?? null) : null],
      ...of('previous', 'memory_id', 'created_at'),
      ...(isVersion ? of('bytes', 'size') : [null, null]),
      ...of(
        'hash',
        'content',
        'salt',
        'metadata',
        'text',
        'event_author',
        'happened_at',
        'made_as',
      ),
    ])
  }
}

function insertEntry(db: DatabaseSync, table: Table): Insert {
  const entry = insertInto(db, 'entries', [...namesOf(table), 'labels', 'n'])
  const words = prepare(db, 'INSERT INTO entry_words (rowid, text) VALUES (?, ?)')
  const text = namesOf(table).indexOf('text')
  let n = 0
  return (row) => {
    entry([...row, '[]', ++n])
    if (row[text] !== '') words.run(n, joinedWords(String(row[text])))
  }
}

function insertLabel(db: DatabaseSync): Insert {
  const label = prepare(
    db,
    'INSERT INTO entry_labels (feed, label, n) SELECT ?, ?, n FROM entries WHERE id = ?',
  )
  return (row) => void label.run(...row.map(stored))
}

function insertMemory(db: DatabaseSync, table: Table): Insert {
  const memory = insertInto(db, 'memories', [...namesOf(table), 'change', 'kept'])
  return (row) => memory([...row, 0, 0])
}

/** Here one process alone has the database. */
function insertUnfinished(db: DatabaseSync): Insert {
  const unfinished = insertInto(db, 'unfinished', ['agent_id', 'event', 'rollback'])
  return (row) => unfinished(row.slice(0, 3))
}

function insertFor(db: DatabaseSync, table: Table): Insert {
  if (table.name === 'log') return insertLog(db, table)
  if (table.name === 'memories') return insertMemory(db, table)
  if (table.name === 'unfinished') return insertUnfinished(db)
  if (table.name === 'entries') return insertEntry(db, table)
  if (table.name === 'entry_labels') return insertLabel(db)
  return insertInto(db, table.name, namesOf(table))
}

const CHANGES = OPERATIONS.map((each) => `'${each}'`).join(', ')

/** The row of the version at a place. */
const rowAt = (of: string, place: string): string => `(
  SELECT v.n FROM log_index i JOIN log v ON v.n = i.n AND v.operation IS NOT NULL
  WHERE i.agent_id = ${of}.agent_id AND i.id = ${place})`

/** What this engine keeps besides: where rows are, and what it counts of each key and home. */
const FINISH = `
  INSERT INTO log_index (agent_id, id, n) SELECT agent_id, id, n FROM log;
  UPDATE log SET previous = ${rowAt('log', 'log.previous')} WHERE previous IS NOT NULL;
  UPDATE memories SET n = ${rowAt('memories', 'memories.n')} WHERE n IS NOT NULL;

  CREATE TEMP TABLE moved_keys (
    agent_id TEXT, key TEXT, change INTEGER, kept INTEGER, PRIMARY KEY (agent_id, key)
  ) WITHOUT ROWID;
  INSERT INTO moved_keys (agent_id, key, kept)
    WITH RECURSIVE chain (agent_id, key, n) AS (
      SELECT agent_id, key, n FROM memories WHERE n IS NOT NULL
      UNION ALL
      SELECT c.agent_id, c.key, l.previous FROM chain c JOIN log l ON l.n = c.n
      WHERE l.previous IS NOT NULL
    )
    SELECT agent_id, key, count(*) FROM chain GROUP BY agent_id, key;
  INSERT INTO moved_keys (agent_id, key, kept, change)
    SELECT agent_id, key, 0, max(id) FROM (
      SELECT agent_id, key, id FROM log
      WHERE id > 0 AND (operation IS NOT NULL OR event IN (${CHANGES}))
      UNION ALL
      SELECT agent_id, renamed_from, id FROM log WHERE event = 'rename'
    ) WHERE key IS NOT NULL GROUP BY agent_id, key
    ON CONFLICT DO UPDATE SET change = excluded.change;
  UPDATE memories SET kept = k.kept FROM moved_keys k
    WHERE k.agent_id = memories.agent_id AND k.key = memories.key;
  -- Of what no event tells any more: below all events, in the order of time.
  UPDATE memories SET change = o.change FROM (
    SELECT m.agent_id, m.key, coalesce(k.change, -row_number() OVER (
      PARTITION BY m.agent_id ORDER BY m.updated_at DESC, m.key)) AS change
    FROM memories m LEFT JOIN moved_keys k ON k.agent_id = m.agent_id AND k.key = m.key
  ) o WHERE o.agent_id = memories.agent_id AND o.key = memories.key;
  DROP TABLE moved_keys;

  UPDATE homes SET imports = 1, oldest = i.least FROM (
    SELECT agent_id, min(id) AS least FROM log_index WHERE id < 0 GROUP BY agent_id
  ) i WHERE i.agent_id = homes.agent_id;

  UPDATE entries SET labels = (
    SELECT json_group_array(label) FROM entry_labels l WHERE l.feed = entries.feed AND l.n = entries.n
  ) WHERE EXISTS (SELECT 1 FROM entry_labels l WHERE l.feed = entries.feed AND l.n = entries.n);`

async function copyTable(
  ask: Ask,
  db: DatabaseSync,
  table: Table,
  progress: Progress,
): Promise<Moved> {
  const count = unprepared<{ rows: number }>(`SELECT count(*) AS rows FROM (${sourceOf(table)}) t`)
  const [counted] = await ask(count)
  const insert = insertFor(db, table)
  const digest = digester()
  for await (const rows of readAll(ask, table)) {
    for (const row of rows) {
      digest.add(row)
      insert(row)
    }
    progress(table.name, digest.result().rows, counted?.rows ?? 0)
  }
  return { table: table.name, ...digest.result() }
}

function refuseDifferent(db: DatabaseSync, moved: readonly Moved[]): void {
  for (const table of tables) {
    const digest = digester()
    for (const row of rowsOf(db, table)) digest.add(row)
    const [left, arrived] = [moved.find((each) => each.table === table.name), digest.result()]
    if (left?.rows === arrived.rows && left.digest === arrived.digest) continue
    throw new StoreRefused(`${table.name} did not arrive as it left. Nothing was moved.`)
  }
}

function refuseUnlessEmpty(db: DatabaseSync): void {
  for (const { name } of tables) {
    if (prepare(db, `SELECT 1 FROM ${name} LIMIT 1`).get() === undefined) continue
    throw new StoreRefused(`The target is not empty: ${name} has rows. Move to an empty database.`)
  }
}

async function copyAll(ask: Ask, db: DatabaseSync, progress: Progress): Promise<Moved[]> {
  db.exec('BEGIN IMMEDIATE')
  try {
    refuseUnlessEmpty(db)
    const moved: Moved[] = []
    for (const table of tables) moved.push(await copyTable(ask, db, table, progress))
    db.exec(FINISH)
    refuseDifferent(db, moved)
    db.exec('COMMIT')
    return moved
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

/** Connections of nodes. The server sees one that was closed for a moment longer: $1 is not counted. */
const others = statement<{ found: number }>(`
  SELECT count(*) AS found FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name LIKE 'agent-home%'
    AND application_name NOT IN ('agent-home move', 'agent-home verify', $1)`)

const version = statement<{ version: number }>('SELECT version FROM schema_version WHERE id = 1')

const ours = statement<{ there: boolean }>(
  "SELECT to_regclass('schema_version') IS NOT NULL AS there",
)

async function refuseInUse(ask: Ask, place: string, closed = ''): Promise<void> {
  const [node] = await ask(others, closed)
  if (node && node.found > 0) {
    throw new StoreRefused(`${place} is in use by a node of Agent Home. Stop all nodes first.`)
  }
}

async function refuseUnusable(ask: Ask, place: string): Promise<void> {
  await refuseInUse(ask, place, 'agent-home start')
  const [found] = await ask(version)
  if (found?.version === SCHEMA) return
  throw new StoreRefused(`${place} was changed by a newer program, which alone can move it.`)
}

const openSource = (from: string, timers: Timers) =>
  openConnections(hostsOf(from), 1, 'agent-home move', { timers, statementMs: 0 })

/** Migrates it, as a start would. */
async function prepareSource(from: string, timers: Timers): Promise<void> {
  const source = openSource(from, timers)
  try {
    const [table] = await source.read(ours)
    if (!table?.there)
      throw new StoreRefused(`${locationOf(from)} is not a database of Agent Home.`)
    // Before the target is made, and what the nodes use is migrated.
    await refuseInUse(source.read, locationOf(from))
  } finally {
    await source.close()
  }
  await prepareServer(hostsOf(from), timers, () => {})
}

/** One snapshot, so that all tables are of the same moment. */
async function copyFrom(
  from: string,
  db: DatabaseSync,
  timers: Timers,
  progress: Progress,
): Promise<Moved[]> {
  const source = openSource(from, timers)
  const session = await source.acquire()
  try {
    await session.begin(SNAPSHOT)
    await refuseUnusable(session.ask, locationOf(from))
    return await copyAll(session.ask, db, progress)
  } finally {
    session.release(true)
    await source.close()
  }
}

/** Throws StoreRefused, as a move to PostgreSQL does. Nothing has been moved then. */
export async function moveToSqlite(
  from: string,
  to: string,
  now: number,
  timers: Timers,
  progress: Progress,
): Promise<Moved[]> {
  await prepareSource(from, timers)
  const path = databaseFile(pathOf(to))
  const lock = lockDatabase(path, now, timers)
  const db = openWriter(path)
  try {
    return await copyFrom(from, db, timers, progress)
  } finally {
    db.close()
    lock.release()
  }
}
