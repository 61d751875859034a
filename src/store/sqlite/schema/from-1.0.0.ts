/**
 * Migrates from 1.0.0, the only release before today's schema. Every memory gets a history, whose
 * first version is the current one.
 */
import type { DatabaseSync } from 'node:sqlite'
import { beginningOf } from '../../chain.ts'
import { DAYS_KEPT } from '../../port/activity.ts'
import type { Progress } from '../../port/store.ts'
import { schemaOf } from '../../schema.ts'
import { prepare } from '../engine/connection.ts'

/** The step's share of the time for a million memories. */
interface Part {
  readonly share: number
  /** How many passes over all memories it makes. */
  readonly passes?: number
  readonly sql: string
}

/** Memories between two progress reports: a prime, because agents write in turns. */
const MEMORIES_AT_ONCE = 1_999

/** Always true; reports progress every so many memories. */
const toldOf = (n: string): string => `(${n} % ${MEMORIES_AT_ONCE} <> 0 OR tell())`

/** Before today's tables are created. */
const prepareTables = `
  ALTER TABLE memories RENAME TO kept_memories;
  ALTER TABLE agents RENAME COLUMN id TO agent_id;
  PRAGMA legacy_alter_table = ON;
  ALTER TABLE agents RENAME TO kept_agents;
  PRAGMA legacy_alter_table = OFF;
  DROP INDEX agents_by_account;

  ALTER TABLE credentials ADD COLUMN key_id TEXT;
  ALTER TABLE credentials ADD COLUMN name TEXT;
  ALTER TABLE credentials ADD COLUMN access TEXT;
  ALTER TABLE credentials ADD COLUMN prefix TEXT;
  ALTER TABLE credentials ADD COLUMN expires_at INTEGER;
  ALTER TABLE credentials ADD COLUMN created_at INTEGER;
  ALTER TABLE credentials ADD COLUMN last_used_at INTEGER;
  ALTER TABLE credentials ADD COLUMN status TEXT NOT NULL DEFAULT 'active'
    CHECK (status IN ('active', 'paused'));
  ALTER TABLE credentials ADD COLUMN client_id TEXT;
  ALTER TABLE credentials ADD COLUMN redirect_host TEXT;
  ALTER TABLE credentials ADD COLUMN granted_until INTEGER;
  ALTER TABLE credentials ADD COLUMN audience TEXT;
  ALTER TABLE credentials ADD COLUMN woke_at INTEGER;
  ALTER TABLE credentials ADD COLUMN woke_event INTEGER;
  UPDATE credentials SET status = 'paused'
    WHERE kind = 'agent' AND agent_id IN (SELECT agent_id FROM kept_agents WHERE status = 'paused');

  ALTER TABLE accounts ADD COLUMN admin INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE sessions ADD COLUMN place TEXT NOT NULL DEFAULT '';
  ALTER TABLE sessions ADD COLUMN confirmed_at INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE sessions ADD COLUMN turn INTEGER NOT NULL DEFAULT 0;

  ALTER TABLE entries ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
  UPDATE entries SET bytes = 512 + 2 * octet_length(text) + octet_length(details)
    + octet_length(identity) + 3 * octet_length(labels);
  ALTER TABLE room_counts ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
  UPDATE room_counts SET bytes = (
    SELECT coalesce(sum(e.bytes), 0) FROM entries e
    WHERE e.feed = room_counts.feed AND e.room = room_counts.room
  );
  DROP INDEX entries_by_feed;
  DROP TRIGGER entry_composted;

  DELETE FROM daily_writes WHERE day <= (
    SELECT max(d.day) FROM daily_writes d WHERE d.agent_id = daily_writes.agent_id
  ) - ${DAYS_KEPT};`

/**
 * Other tables keep referring to `agents`, because the old table was renamed with
 * legacy_alter_table.
 */
const copyAgents = `
  INSERT INTO agents (agent_id, name, purpose, symbol, status, account_id, rotated, created_at,
      updated_at)
    SELECT agent_id, name, purpose, symbol, status, account_id, rotated, created_at, updated_at
    FROM kept_agents;
  INSERT INTO births (key_hash, agent_id, fingerprint, salt, born_from, created_at)
    SELECT birth_key_hash, agent_id, birth_fingerprint, birth_salt, born_from, created_at
    FROM kept_agents;
  DROP TABLE kept_agents;`

const numberThem = `
  CREATE TEMP TABLE numbers (n INTEGER PRIMARY KEY, id INTEGER NOT NULL) STRICT;
  INSERT INTO temp.numbers
    SELECT n, id FROM (
      SELECT rowid AS n, row_number() OVER (PARTITION BY agent_id ORDER BY updated_at, key) AS id
      FROM kept_memories NOT INDEXED WHERE ${toldOf('rowid')}
    ) WHERE ${toldOf('n')};`

/** CROSS JOIN reads the old rows in order, without lookups. */
const copyTexts = `
  INSERT INTO log (n, agent_id, id, before, event, key, renamed_from, version, author, updated_at,
      operation, previous, memory_id, created_at, bytes, size, metadata, text)
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
  INSERT INTO log_index
    SELECT agent_id, id, n FROM (
      SELECT agent_id, id, n FROM log WHERE ${toldOf('n')} ORDER BY agent_id, id LIMIT -1
    ) WHERE ${toldOf('n')};`

const makeHeads = `
  INSERT INTO memories (agent_id, key, id, version, created_at, updated_at, deleted, size, pinned,
      change, kept, n)
    SELECT * FROM (
      SELECT agent_id, key, memory_id, version, created_at, updated_at, 0, size,
        coalesce(json_extract(metadata, '$.pinned') = 1
          AND json_type(metadata, '$.pinned') = 'true', 0), id, 1, n
      FROM log WHERE ${toldOf('n')} ORDER BY agent_id, key LIMIT -1
    ) WHERE ${toldOf('n')};`

const countHomes = `
  INSERT INTO homes (agent_id, memories, bytes, last_event, first_event, head, base)
    SELECT a.agent_id, count(m.key), coalesce(sum(m.size), 0), count(m.key), count(m.key) + 1,
      beginning(a.agent_id), beginning(a.agent_id)
    FROM agents a LEFT JOIN memories m ON m.agent_id = a.agent_id GROUP BY a.agent_id;`

/**
 * Keys are sorted without their texts, which are copied once, in order. LIMIT keeps sorting and
 * inserting separate passes. The old table's pages are freed without being overwritten in the log;
 * the file is cleaned afterwards, as every file without the mark is.
 */
const partsOf = (): readonly Part[] => [
  { share: 0, sql: prepareTables },
  { share: 0, sql: schemaOf('sqlite') },
  { share: 0, sql: copyAgents },
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
export function upgrade(db: DatabaseSync, progress: Progress): void {
  const total = countBefore(db)
  let done = 0
  let within = 0
  let step = 0
  let share = 0
  const say = () => total > 0 && progress(Math.round(total * (done + within)), total)
  db.function('beginning', { deterministic: true }, (agentId) => beginningOf(String(agentId)))
  db.function('tell', () => {
    within = Math.min(within + step, share)
    say()
    return 1
  })
  say()
  for (const part of partsOf()) {
    share = part.share
    step = (part.share * MEMORIES_AT_ONCE) / (total * (part.passes ?? 1))
    db.exec(part.sql)
    done += part.share
    within = 0
    say()
  }
}
