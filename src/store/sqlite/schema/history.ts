/**
 * The step of the schema that gives every memory a history. Never to be edited once released.
 *
 * `log`: everything that happens in any home, in the order in which it happens; a change of a memory
 * with the version that it made, for as long as that is kept. It only grows at its end, whoever
 * writes: this is what keeps writes sequential. `id` counts what happened in one home; what is no
 * event of its own has that of the event to which it belongs. `before` is the row before it in the
 * same home, `previous` the version before it of the same memory.
 *
 * `log_index`: where in the log the rows of a home lie. It is filed for many of them at once; those
 * not yet in it are found by `before`, beginning with `tail` of their home.
 *
 * `memories`: what lies under each key now, and at which `n` of the log.
 *
 * What is there is the first version that is known, whatever its number.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { Progress } from '../../port/store.ts'
import { prepare } from '../engine/connection.ts'

/** What is done of a million memories, and the share of the whole step's time that it takes. */
interface Part {
  readonly share: number
  /** How often it goes through all memories. */
  readonly passes?: number
  readonly sql: string
}

/** How many memories are gone through between two tellings: a prime, as agents write in turns. */
const MEMORIES_AT_ONCE = 1_999

/** True of every memory. Of one in so many it is told that it was reached. */
const toldOf = (n: string): string => `(${n} % ${MEMORIES_AT_ONCE} <> 0 OR tell())`

const keepAside = `
  ALTER TABLE memories RENAME TO kept_memories;

  CREATE TABLE log (
    n INTEGER PRIMARY KEY,
    agent_id TEXT NOT NULL,
    id INTEGER NOT NULL,
    before INTEGER,
    event TEXT,
    key TEXT,
    renamed_from TEXT,
    version INTEGER,
    author TEXT,
    at INTEGER NOT NULL,
    operation TEXT,
    previous INTEGER,
    memory_id TEXT,
    created_at INTEGER,
    bytes INTEGER,
    size INTEGER,
    metadata TEXT,
    text TEXT
  ) STRICT;`

const numberThem = `
  CREATE TEMP TABLE numbers (n INTEGER PRIMARY KEY, id INTEGER NOT NULL) STRICT;
  INSERT INTO temp.numbers
    SELECT n, id FROM (
      SELECT rowid AS n, row_number() OVER (PARTITION BY agent_id ORDER BY updated_at, key) AS id
      FROM kept_memories NOT INDEXED WHERE ${toldOf('rowid')}
    ) WHERE ${toldOf('n')};`

/** CROSS JOIN has the old rows read as they lie, and none looked up. */
const copyTexts = `
  INSERT INTO log
    SELECT m.rowid, m.agent_id, s.id, NULL, NULL, m.key, NULL, m.version, NULL, m.updated_at,
      'write', NULL, m.id, m.created_at, octet_length(m.text),
      octet_length(m.text) + octet_length(m.metadata), m.metadata, m.text
    FROM kept_memories m CROSS JOIN temp.numbers s ON s.n = m.rowid WHERE ${toldOf('m.rowid')};
  DROP TABLE temp.numbers;`

const dropOld = `
  PRAGMA secure_delete = FAST;
  DROP TABLE kept_memories;
  PRAGMA secure_delete = ON;`

const fileThem = `
  CREATE TABLE log_index (
    agent_id TEXT NOT NULL,
    id INTEGER NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (agent_id, id, n)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO log_index
    SELECT agent_id, id, n FROM (
      SELECT agent_id, id, n FROM log WHERE ${toldOf('n')} ORDER BY agent_id, id LIMIT -1
    ) WHERE ${toldOf('n')};`

const makeHeads = `
  CREATE TABLE memories (
    agent_id TEXT NOT NULL REFERENCES agents (id),
    key TEXT NOT NULL,
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted INTEGER NOT NULL,
    size INTEGER NOT NULL,
    pinned INTEGER NOT NULL,
    change INTEGER NOT NULL,
    kept INTEGER NOT NULL,
    n INTEGER,
    PRIMARY KEY (agent_id, key)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO memories
    SELECT * FROM (
      SELECT agent_id, key, memory_id, version, created_at, at, 0, size,
        coalesce(json_extract(metadata, '$.pinned') = 1
          AND json_type(metadata, '$.pinned') = 'true', 0), id, 1, n
      FROM log WHERE ${toldOf('n')} ORDER BY agent_id, key LIMIT -1
    ) WHERE ${toldOf('n')};`

const countHomes = `
  CREATE TABLE homes (
    agent_id TEXT PRIMARY KEY REFERENCES agents (id),
    memories INTEGER NOT NULL DEFAULT 0,
    bytes INTEGER NOT NULL DEFAULT 0,
    history INTEGER NOT NULL DEFAULT 0,
    deleted INTEGER NOT NULL DEFAULT 0,
    floor INTEGER NOT NULL DEFAULT 0,
    last_event INTEGER NOT NULL DEFAULT 0,
    first_event INTEGER NOT NULL DEFAULT 1,
    tail INTEGER,
    oldest INTEGER NOT NULL DEFAULT 0,
    day INTEGER NOT NULL DEFAULT 0,
    writes INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID;
  INSERT INTO homes (agent_id, memories, bytes, last_event, first_event)
    SELECT a.id, count(m.key), coalesce(sum(m.size), 0), count(m.key), count(m.key) + 1
    FROM agents a LEFT JOIN memories m ON m.agent_id = a.id GROUP BY a.id;
  ALTER TABLE agents DROP COLUMN memory_count;`

/**
 * What is sorted is sorted apart from the texts, which go over once, as they lie. A LIMIT keeps the
 * sorting and the filing two passes. The pages of the old table are given up as they are: none is
 * overwritten in the log too, but in the file, which is gone through for what was deleted as every
 * file of a program before this step is.
 */
const parts: readonly Part[] = [
  { share: 0, sql: keepAside },
  { share: 0.25, passes: 2, sql: numberThem },
  { share: 0.25, passes: 1, sql: copyTexts },
  { share: 0.05, sql: dropOld },
  { share: 0.1, passes: 2, sql: fileThem },
  { share: 0.15, passes: 2, sql: makeHeads },
  { share: 0.01, sql: countHomes },
]

const countBefore = (db: DatabaseSync): number =>
  prepare<{ memories: number }>(db, 'SELECT count(*) AS memories FROM memories').get()?.memories ??
  0

/** The rest of the time is the commit's. */
export function beginHistory(db: DatabaseSync, progress: Progress): void {
  const total = countBefore(db)
  let done = 0
  let within = 0
  let step = 0
  let share = 0
  const say = () => total > 0 && progress(Math.round(total * (done + within)), total)
  db.function('tell', () => {
    within = Math.min(within + step, share)
    say()
    return 1
  })
  say()
  for (const part of parts) {
    share = part.share
    step = (part.share * MEMORIES_AT_ONCE) / (total * (part.passes ?? 1))
    db.exec(part.sql)
    done += part.share
    within = 0
    say()
  }
}
