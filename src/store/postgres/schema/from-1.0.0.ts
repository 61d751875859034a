/**
 * Migrates from 1.0.0, the only release before today's schema. Every memory gets a history, whose
 * first version is the current one.
 */
import { isPinned } from '../../change.ts'
import type { Progress } from '../../port/store.ts'
import { schemaOf } from '../../schema.ts'
import { type Ask, statement, unprepared } from '../engine/connections.ts'
import { splitAnew } from '../engine/words.ts'

/** The step's share of the time for a million memories. */
interface Part {
  readonly share: number
  readonly sql: string
}

/** Before today's tables are created. */
const prepareTables = `
  ALTER TABLE memories RENAME TO kept_memories;
  ALTER INDEX memories_pkey RENAME TO kept_memories_pkey;
  ALTER TABLE daily_writes RENAME TO slots;
  ALTER INDEX daily_writes_pkey RENAME TO slots_pkey;
  ALTER TABLE slots RENAME CONSTRAINT daily_writes_agent_id_fkey TO slots_agent_id_fkey;

  ALTER TABLE credentials ADD COLUMN key_id TEXT, ADD COLUMN name TEXT, ADD COLUMN access TEXT,
    ADD COLUMN prefix TEXT, ADD COLUMN expires_at BIGINT, ADD COLUMN created_at BIGINT,
    ADD COLUMN last_used_at BIGINT, ADD COLUMN client_id TEXT, ADD COLUMN redirect_host TEXT,
    ADD COLUMN granted_until BIGINT, ADD COLUMN audience TEXT;
  ALTER TABLE births ALTER COLUMN born_from TYPE TEXT COLLATE "C";
  ALTER TABLE sessions ADD COLUMN place TEXT NOT NULL DEFAULT '',
    ADD COLUMN confirmed_at BIGINT NOT NULL DEFAULT 0,
    ADD COLUMN turn BIGINT NOT NULL DEFAULT 0;

  ALTER TABLE entries ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0;
  ALTER TABLE room_counts ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0;
  UPDATE entries SET bytes = 512 + 2 * octet_length(text) + 4 * octet_length(details)
    + octet_length(identity);
  UPDATE room_counts r SET bytes = (
    SELECT coalesce(sum(e.bytes), 0) FROM entries e WHERE e.feed = r.feed AND e.room = r.room
  );
  DROP INDEX entries_by_word;`

/** Built from the new tables. */
const dropKeys = `
  ALTER TABLE log DROP CONSTRAINT log_pkey;
  ALTER TABLE memories DROP CONSTRAINT memories_pkey;`

const copyTexts = `
  INSERT INTO log (agent_id, n, kept, version, created_at, updated_at, bytes, size, key, memory_id,
      operation, metadata, text)
    SELECT agent_id, row_number() OVER (PARTITION BY agent_id ORDER BY updated_at, key), true,
      version, created_at, updated_at, octet_length(text),
      octet_length(text) + octet_length(metadata), key, id, 'write', metadata, text
    FROM kept_memories;
  DROP TABLE kept_memories;`

const makeHeads = `
  INSERT INTO memories
    SELECT agent_id, key, memory_id, version, created_at, updated_at, size, n, false, false FROM log;`

const countHomes = `
  INSERT INTO homes (agent_id, memories, bytes, last_event, first_event, head, base)
    SELECT a.agent_id, count(m.key), coalesce(sum(m.size), 0), count(m.key), count(m.key) + 1,
      sha256(convert_to(E'agent-home chain v1\\n' || a.agent_id, 'UTF8')),
      sha256(convert_to(E'agent-home chain v1\\n' || a.agent_id, 'UTF8'))
    FROM agents a LEFT JOIN memories m ON m.agent_id = a.agent_id GROUP BY a.agent_id;
  ALTER TABLE agents DROP COLUMN memory_count;

  INSERT INTO daily_writes SELECT agent_id, day, sum(writes) FROM slots GROUP BY agent_id, day;
  DROP TABLE slots;`

/** Indexes are built afterwards, and texts are copied once. */
const partsOf = (): readonly Part[] => [
  { share: 0, sql: prepareTables },
  { share: 0, sql: schemaOf('postgres') },
  { share: 0, sql: dropKeys },
  { share: 0.5, sql: copyTexts },
  { share: 0.1, sql: 'ALTER TABLE log ADD PRIMARY KEY (agent_id, n)' },
  { share: 0.1, sql: makeHeads },
  { share: 0.1, sql: 'ALTER TABLE memories ADD PRIMARY KEY (agent_id, key)' },
  { share: 0.05, sql: countHomes },
]

/** For this transaction, which sorts a million memories. */
const takeMemory = unprepared(`SELECT set_config(name, '256MB', true) FROM pg_settings
   WHERE name IN ('work_mem', 'maintenance_work_mem')`)

const countBefore = unprepared<{ memories: number }>(
  'SELECT coalesce(sum(memory_count), 0)::BIGINT AS memories FROM agents',
)

async function beginHistory(ask: Ask, progress: Progress): Promise<void> {
  const [counted] = await ask(countBefore)
  const total = counted?.memories ?? 0
  let done = 0
  if (total > 0) progress(0, total)
  await ask(takeMemory)
  for (const { share, sql } of partsOf()) {
    await ask(unprepared(sql))
    done += share
    if (total > 0 && share > 0) progress(Math.round(total * done), total)
  }
  // Analyzed while empty, the tables would be planned as sequential scans.
  if (total > 0) await ask(unprepared('ANALYZE log; ANALYZE memories; ANALYZE homes'))
}

const MEMORIES_AT_ONCE = 1_000

interface PerhapsPinned {
  agent_id: string
  key: string
  metadata: string
}

/** One pass, however the planner without statistics estimates pages. */
const lookForPinned =
  unprepared(`DECLARE perhaps_pinned NO SCROLL CURSOR FOR SELECT agent_id, key, metadata FROM log
   WHERE position('"pinned"' in metadata) > 0 OR position('\\u' in metadata) > 0`)

const perhapsPinned = unprepared<PerhapsPinned>(`FETCH ${MEMORIES_AT_ONCE} FROM perhaps_pinned`)

const pin = statement(`
  UPDATE memories m SET pinned = true FROM unnest($1::TEXT[], $2::TEXT[]) AS p (agent_id, key)
  WHERE m.agent_id = p.agent_id AND m.key = p.key`)

const countAfter = unprepared<{ memories: number }>(
  'SELECT coalesce(sum(memories), 0)::BIGINT AS memories FROM homes',
)

/** PostgreSQL's JSON type does not accept everything that our parser does. */
async function findPinned(ask: Ask, progress: Progress): Promise<void> {
  await ask(lookForPinned)
  for (;;) {
    const rows = await ask(perhapsPinned)
    if (rows.length === 0) break
    const pinned = rows.filter(({ metadata }) => isPinned(metadata))
    await ask(
      pin,
      pinned.map((row) => row.agent_id),
      pinned.map((row) => row.key),
    )
  }
  await ask(unprepared('CLOSE perhaps_pinned'))
  const [counted] = await ask(countAfter)
  if (counted && counted.memories > 0) progress(counted.memories, counted.memories)
}

/** Words are now split by the program, as on SQLite. */
export async function upgrade(ask: Ask, progress: Progress): Promise<void> {
  await splitAnew(ask)
  await beginHistory(ask, progress)
  await findPinned(ask, progress)
}
