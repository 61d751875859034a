/** The step of the schema that gives every memory a history. Never to be edited once released. */
import { isPinned } from '../../change.ts'
import type { Progress } from '../../port/store.ts'
import { type Ask, statement } from '../engine/connections.ts'

/** What is done of a million memories, and the share of the whole step's time that it takes. */
interface Part {
  readonly share: number
  readonly sql: string
}

const keepAside = `
  ALTER TABLE memories RENAME TO kept_memories;
  ALTER INDEX memories_pkey RENAME TO kept_memories_pkey;

  CREATE TABLE log (
    agent_id TEXT COLLATE "C" NOT NULL,
    n BIGINT NOT NULL,
    previous BIGINT,
    kept BOOLEAN NOT NULL,
    version BIGINT,
    created_at BIGINT,
    updated_at BIGINT NOT NULL,
    happened_at BIGINT,
    bytes BIGINT NOT NULL DEFAULT 0,
    size BIGINT NOT NULL DEFAULT 0,
    key TEXT COLLATE "C",
    renamed_from TEXT,
    id TEXT,
    operation TEXT NOT NULL,
    author TEXT,
    event_type TEXT,
    event_author TEXT,
    metadata TEXT,
    text TEXT
  );`

const copyTexts = `
  INSERT INTO log (agent_id, n, kept, version, created_at, updated_at, bytes, size, key, id,
      operation, metadata, text)
    SELECT agent_id, row_number() OVER (PARTITION BY agent_id ORDER BY updated_at, key), true,
      version, created_at, updated_at, octet_length(text),
      octet_length(text) + octet_length(metadata), key, id, 'write', metadata, text
    FROM kept_memories;
  DROP TABLE kept_memories;`

const makeHeads = `
  CREATE TABLE memories (
    agent_id TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    id TEXT NOT NULL,
    version BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    size BIGINT NOT NULL,
    n BIGINT,
    deleted BOOLEAN NOT NULL,
    pinned BOOLEAN NOT NULL
  ) WITH (fillfactor = 80);
  INSERT INTO memories
    SELECT agent_id, key, id, version, created_at, updated_at, size, n, false, false FROM log;`

const countHomes = `
  CREATE TABLE homes (
    agent_id TEXT COLLATE "C" PRIMARY KEY REFERENCES agents (agent_id),
    memories BIGINT NOT NULL DEFAULT 0,
    bytes BIGINT NOT NULL DEFAULT 0,
    history BIGINT NOT NULL DEFAULT 0,
    deleted BIGINT NOT NULL DEFAULT 0,
    floor BIGINT NOT NULL DEFAULT 0,
    last_event BIGINT NOT NULL DEFAULT 0,
    first_event BIGINT NOT NULL DEFAULT 1,
    day BIGINT NOT NULL DEFAULT 0,
    day_writes BIGINT NOT NULL DEFAULT 0
  ) WITH (fillfactor = 50);
  INSERT INTO homes (agent_id, memories, bytes, last_event, first_event)
    SELECT a.agent_id, count(m.key), coalesce(sum(m.size), 0), count(m.key), count(m.key) + 1
    FROM agents a LEFT JOIN memories m ON m.agent_id = a.agent_id GROUP BY a.agent_id;
  ALTER TABLE agents DROP COLUMN memory_count;

  ALTER TABLE daily_writes RENAME TO slots;
  ALTER INDEX daily_writes_pkey RENAME TO slots_pkey;
  CREATE TABLE daily_writes (
    agent_id TEXT COLLATE "C" NOT NULL REFERENCES agents (agent_id),
    day BIGINT NOT NULL,
    writes BIGINT NOT NULL,
    PRIMARY KEY (agent_id, day)
  );
  INSERT INTO daily_writes SELECT agent_id, day, sum(writes) FROM slots GROUP BY agent_id, day;
  DROP TABLE slots;`

/**
 * A memory is what is now; its texts are in the log. What is there is the first version that is
 * known, whatever its number. What is written with every change refers to no other table: to check
 * it would lock the agent's row each time. There is room beside homes and memories, so that a change
 * of them touches no index. Indexes are made of what is there, and texts go over once.
 */
const parts: readonly Part[] = [
  { share: 0, sql: keepAside },
  { share: 0.5, sql: copyTexts },
  { share: 0.1, sql: 'ALTER TABLE log ADD PRIMARY KEY (agent_id, n)' },
  { share: 0.1, sql: makeHeads },
  { share: 0.1, sql: 'ALTER TABLE memories ADD PRIMARY KEY (agent_id, key)' },
  { share: 0.05, sql: countHomes },
]

/** Until the transaction ends; a million memories are sorted in it. */
const takeMemory = statement(
  '',
  `SELECT set_config(name, '256MB', true) FROM pg_settings
   WHERE name IN ('work_mem', 'maintenance_work_mem')`,
)

const countBefore = statement<{ memories: number }>(
  '',
  'SELECT coalesce(sum(memory_count), 0)::BIGINT AS memories FROM agents',
)

export async function beginHistory(ask: Ask, progress: Progress): Promise<void> {
  const [counted] = await ask(countBefore)
  const total = counted?.memories ?? 0
  let done = 0
  if (total > 0) progress(0, total)
  await ask(takeMemory)
  for (const { share, sql } of parts) {
    await ask(statement('', sql))
    done += share
    if (total > 0 && share > 0) progress(Math.round(total * done), total)
  }
  // Of empty tables a server would remember that to read all of them is quickest.
  if (total > 0) await ask(statement('', 'ANALYZE log; ANALYZE memories; ANALYZE homes'))
}

const MEMORIES_AT_ONCE = 1_000

interface PerhapsPinned {
  agent_id: string
  key: string
  metadata: string
}

/** Read in one pass, whatever a server without statistics would make of pages. */
const lookForPinned = statement(
  '',
  `DECLARE perhaps_pinned NO SCROLL CURSOR FOR SELECT agent_id, key, metadata FROM log
   WHERE position('"pinned"' in metadata) > 0 OR position('\\u' in metadata) > 0`,
)

const perhapsPinned = statement<PerhapsPinned>('', `FETCH ${MEMORIES_AT_ONCE} FROM perhaps_pinned`)

const pin = statement(
  'pin',
  `UPDATE memories m SET pinned = true FROM unnest($1::TEXT[], $2::TEXT[]) AS p (agent_id, key)
   WHERE m.agent_id = p.agent_id AND m.key = p.key`,
)

const countAfter = statement<{ memories: number }>(
  '',
  'SELECT coalesce(sum(memories), 0)::BIGINT AS memories FROM homes',
)

/** The server's own JSON does not read all that ours does. */
export async function findPinned(ask: Ask, progress: Progress): Promise<void> {
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
  await ask(statement('', 'CLOSE perhaps_pinned'))
  const [counted] = await ask(countAfter)
  if (counted && counted.memories > 0) progress(counted.memories, counted.memories)
}
