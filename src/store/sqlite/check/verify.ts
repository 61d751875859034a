/** Verifies a database file at rest. */
import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import {
  checkContents,
  gatherFaults,
  type HomeRow,
  type LogRow,
  PINNED,
} from '../../check/contents.ts'
import { type Log, type Promised, told } from '../../check/log-promises.ts'
import { countsOf, faultOf, promisedOf, unprovenIn, violationsOf } from '../../check/promises.ts'
import type { Checking, Verified, Violation } from '../../port/check.ts'
import { StoreRefused } from '../../port/errors.ts'
import { SCHEMA, unknownSchema } from '../../schema.ts'
import { prepare, prepareTuples } from '../engine/connection.ts'
import { prepareVerbs } from '../engine/run.ts'
import { EVENT } from '../memories/event-reads.ts'
import { migrate, versionsOf } from '../schema/migrations.ts'
import { readFileOf } from './still.ts'

const LOG: Log = {
  rows: 'log',
  at: (l, of, place) => `${l}.n = ${of}.${place}`,
}

const TAILS = `WITH RECURSIVE tails (n) AS (
    SELECT tail FROM homes WHERE tail IS NOT NULL
    UNION
    SELECT l.before FROM tails t JOIN log l ON l.n = t.n WHERE l.before IS NOT NULL
  )`

/** What only this engine stores. */
const ownPromises: readonly Promised[] = [
  {
    fault: 'more versions follow on each other than a memory has, or are counted where none is',
    wrong: `SELECT agent_id || ' ' || key FROM memories
      WHERE run NOT BETWEEN 0 AND version - 1 OR kept < 0 OR (n IS NULL) <> (kept = 0)
        OR (n IS NULL AND run <> 0)`,
  },
  {
    // A version that was pruned is not there; its number still gives the place of those above it.
    fault: 'a version is not in the place that its number gives it',
    wrong: `WITH RECURSIVE walk (agent_id, key, n, version, run) AS (
        SELECT agent_id, key, n, version, run FROM memories WHERE run > 0
        UNION ALL
        SELECT w.agent_id, w.key, l.previous, w.version - 1, w.run - 1
        FROM walk w JOIN log l ON l.n = w.n AND l.operation IS NOT NULL AND l.version = w.version
        WHERE w.run > 0
      )
      SELECT w.agent_id || ' ' || w.key FROM walk w JOIN log l ON l.n = w.n
      WHERE l.operation IS NOT NULL AND (l.version, l.key) <> (w.version, w.key)`,
  },
  {
    fault: 'a memory is not in the place of its last change',
    wrong: `WITH ${told(LOG.rows)}, changes AS (
        SELECT agent_id, key, max(id) AS id FROM told WHERE event <> 'erase' GROUP BY agent_id, key
      )
      SELECT m.agent_id || ' ' || m.key FROM memories m JOIN homes h ON h.agent_id = m.agent_id
      LEFT JOIN changes c ON c.agent_id = m.agent_id AND c.key = m.key
      LEFT JOIN log l ON l.n = m.n AND l.event IS NOT NULL
      WHERE m.change <> c.id OR m.change <> l.id OR (c.id IS NULL AND m.change >= h.first_event)`,
  },
  {
    // Before schema 27 a version that was other than its event had its number, if it came from a server.
    fault: 'a version is numbered as an event and is none',
    wrong: `SELECT l.agent_id || ' n=' || l.n FROM log l JOIN homes h ON h.agent_id = l.agent_id
      WHERE l.event IS NULL AND l.id >= h.first_event AND NOT EXISTS (
        SELECT 1 FROM log_index i JOIN log e ON e.n = i.n
        WHERE i.agent_id = l.agent_id AND i.id = l.id AND e.operation IS NULL
          AND (e.key, e.version) = (l.key, l.version))`,
  },
  {
    fault: 'a row that holds no version has something of one',
    wrong: `SELECT agent_id || ' n=' || n FROM log
      WHERE operation IS NULL AND (previous IS NOT NULL OR memory_id IS NOT NULL
        OR created_at IS NOT NULL OR coalesce(bytes, 0) <> 0 OR coalesce(size, 0) <> 0)`,
  },
  {
    fault: 'the row before an event is not that of the event before',
    wrong: `SELECT l.agent_id || ' n=' || l.n FROM log l JOIN homes h ON h.agent_id = l.agent_id
      LEFT JOIN log b ON b.n = l.before
      WHERE l.before IS NOT NULL AND (l.before >= l.n
        OR coalesce((b.agent_id, b.id) <> (l.agent_id, l.id - 1), l.id > h.first_event))
      UNION ALL SELECT h.agent_id FROM homes h LEFT JOIN log l ON l.n = h.tail
        WHERE h.tail IS NOT NULL AND (l.agent_id, l.id) IS NOT (h.agent_id, h.last_event)`,
  },
  {
    fault: 'events of a home are not in the order of their numbers',
    wrong: `SELECT agent_id || ' ' || id FROM (
        SELECT agent_id, id, lag(id) OVER (PARTITION BY agent_id ORDER BY n) AS before
        FROM log WHERE event IS NOT NULL
      ) WHERE before >= id`,
  },
  {
    fault: 'a row of the log cannot be reached',
    wrong: `${TAILS} SELECT agent_id || ' n=' || n FROM log l
      WHERE NOT EXISTS (
          SELECT 1 FROM log_index i WHERE i.agent_id = l.agent_id AND i.id = l.id AND i.n = l.n)
        AND l.n NOT IN tails`,
  },
  {
    fault: 'a row of the log is found twice',
    wrong: `${TAILS} SELECT l.agent_id || ' n=' || l.n FROM tails t JOIN log l ON l.n = t.n
      WHERE EXISTS (
        SELECT 1 FROM log_index i WHERE i.agent_id = l.agent_id AND i.id = l.id AND i.n = l.n)`,
  },
  {
    fault: 'the log’s index names a row that is not there',
    wrong: `SELECT i.agent_id || ' n=' || i.n FROM log_index i LEFT JOIN log l ON l.n = i.n
      WHERE (l.agent_id, l.id) IS NOT (i.agent_id, i.id)`,
  },
  {
    fault: 'the gateway’s entries are not in the order of their ids',
    wrong: `SELECT id FROM (SELECT id, lag(id) OVER (ORDER BY n) AS before FROM entries)
      WHERE before >= id`,
  },
  {
    fault: 'an entry is filed under a label that it does not bear, or not under one that it does',
    wrong: `SELECT n || ' ' || label FROM entry_labels l WHERE NOT EXISTS (
        SELECT 1 FROM entries e, json_each(e.labels) WHERE e.n = l.n AND e.feed = l.feed
          AND value = l.label)
      UNION ALL
      SELECT e.id FROM entries e, json_each(e.labels) WHERE NOT EXISTS (
        SELECT 1 FROM entry_labels l WHERE l.feed = e.feed AND l.label = value AND l.n = e.n)`,
  },
  {
    fault: 'an entry with a text is not in the index of words, or one is that is not there',
    wrong: `SELECT id FROM entries WHERE text <> '' AND n NOT IN (SELECT id FROM entry_words_docsize)
      UNION ALL SELECT d.id FROM entry_words_docsize d
        WHERE d.id NOT IN (SELECT n FROM entries WHERE text <> '')`,
  },
]

export const promises: readonly Promised[] = [...promisedOf(LOG), ...ownPromises]

type Check = (db: DatabaseSync) => readonly Violation[]

function* firstColumn(db: DatabaseSync, sql: string): Generator<string> {
  for (const [value] of prepareTuples<[unknown]>(db, sql).iterate()) yield String(value)
}

const isBroken: Check = (db) =>
  faultOf(
    'the file is corrupt',
    firstColumn(db, 'PRAGMA integrity_check').filter((said) => said !== 'ok'),
  )

const isOrphaned: Check = (db) =>
  faultOf('a row refers to one that is not there', firstColumn(db, 'PRAGMA foreign_key_check'))

/**
 * A table by its columns, references and unique keys: one to which a migration added a column is the
 * same as a new one, and its statement is not.
 */
const SCHEMA_ROWS = `
  SELECT s.type || ' ' || s.name || ' ' || CASE
    WHEN s.type <> 'table' OR t.type = 'virtual' THEN replace(replace(s.sql, ' ', ''), char(10), '')
    ELSE json_array(t.wr, t.strict, (
        SELECT json_group_array(json_array(c.name, c.type, c."notnull", c.dflt_value, c.pk, c.hidden))
        FROM pragma_table_xinfo(s.name) c
      ), (
        SELECT json_group_array(json_array(f."table", f."from", f."to", f.on_update, f.on_delete))
        FROM pragma_foreign_key_list(s.name) f
      ), (
        SELECT json_group_array(name) FROM (
          SELECT group_concat(c.name) AS name FROM pragma_index_list(s.name) i, pragma_index_info(i.name) c
          WHERE i.origin = 'u' GROUP BY i.name ORDER BY 1
        )
      )) END
  FROM sqlite_schema s LEFT JOIN pragma_table_list t ON t.schema = 'main' AND t.name = s.name
  WHERE s.name NOT LIKE 'sqlite_%'`

/** The schema that the migrations create in an empty database. */
function freshSchema(): Set<string> {
  const db = new DatabaseSync(':memory:')
  migrate(db, ':memory:')
  const rows = new Set(firstColumn(db, SCHEMA_ROWS))
  db.close()
  return rows
}

const isAltered: Check = (db) => {
  const differing = freshSchema().symmetricDifference(new Set(firstColumn(db, SCHEMA_ROWS)))
  const names = [...differing].map((each) => each.split(' ', 2).join(' '))
  return faultOf('the schema is not the one that this program makes', new Set(names))
}

const keeps =
  (promised: Promised): Check =>
  (db) =>
    prepareVerbs(db, { violationsOf }).violationsOf(promised)

/** The log is read in the order in which it was written, whichever home a row is of. */
export const checkLog: Check = (db) => {
  const { fault, all } = gatherFaults()
  const homes = prepare<HomeRow>(
    db,
    'SELECT agent_id, first_event AS first, last_event AS last, head, base FROM homes',
  )
  const rows = prepare<LogRow>(
    db,
    `SELECT agent_id, n, previous, id, event, key, renamed_from, version, ${EVENT.author} AS author,
       ${EVENT.at} AS created_at, author AS writer, operation, hash, content, salt, metadata, text,
       bytes, size, ${PINNED} AS pinned
     FROM log l ORDER BY n`,
  )
  const contents = checkContents(homes.iterate(), fault)
  for (const row of rows.iterate()) contents.meet(row)
  contents.end()
  return all()
}

const always: readonly Check[] = [isBroken, isOrphaned]

/** Of the rows, which a transaction that is not committed can have changed. */
export const checksOfRows: readonly Check[] = [...promises.map(keeps), checkLog]

const ofThisProgram: readonly Check[] = [...always, isAltered, ...checksOfRows]

/** The file may be too damaged to query. */
function attempt(check: Check, db: DatabaseSync): ReturnType<Check> {
  try {
    return check(db)
  } catch (error) {
    return faultOf('the data cannot be read', [(error as Error).message])
  }
}

function schemaOf(db: DatabaseSync, path: string): number {
  const versions = versionsOf(db)
  if (versions.version === 0) throw new StoreRefused(`${path} is not a database of Agent Home.`)
  if (versions.oldest > SCHEMA) throw new StoreRefused(unknownSchema(path, versions))
  return versions.version
}

function verify(db: DatabaseSync, path: string, checking: Checking): Verified {
  // One snapshot for all checks.
  db.exec('BEGIN')
  const found = schemaOf(db, path)
  const checks = found === SCHEMA ? ofThisProgram : always
  const faults = checks.flatMap((check, done) => {
    checking(done, checks.length)
    return attempt(check, db)
  })
  checking(checks.length, checks.length)
  const isCountable = found === SCHEMA && faults.length === 0
  const verbs = prepareVerbs(db, { countsOf, unprovenIn })
  return {
    schema: { found, known: SCHEMA },
    bytes: statSync(path).size,
    checks: checks.length,
    counts: isCountable ? verbs.countsOf(LOG) : {},
    unproven: isCountable ? verbs.unprovenIn(LOG) : 0,
    faults,
  }
}

/** Throws StoreRefused: no file, not a database of ours, or a newer schema. */
export function verifyFile(path: string, checking: Checking = () => {}): Verified {
  try {
    return readFileOf(path, (db) => verify(db, path, checking))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') throw new StoreRefused(`There is no file ${path}.`, { cause: error })
    if (code !== 'ERR_SQLITE_ERROR') throw error
    throw new StoreRefused(`${path} cannot be read: ${message}.`, { cause: error })
  }
}
