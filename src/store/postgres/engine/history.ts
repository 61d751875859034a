/** The step of the schema that gives every memory a history. Never to be edited once released. */
import { isPinned } from '../../change.ts'
import { type Ask, statement } from './connections.ts'

/**
 * A memory is what is now; its texts are versions of it. What is there is the first version that is
 * known, whatever its number. What is written with every change refers to no other table: to check
 * it would lock the agent's row each time. There is room beside homes and memories, so that a change
 * of them touches no index. Texts are not sorted, and what refers is checked at once: a million
 * memories take their time.
 */
export const beginHistory = `
  ALTER TABLE memories RENAME TO kept_memories;
  ALTER INDEX memories_pkey RENAME TO kept_memories_pkey;

  CREATE TABLE versions (
    agent_id TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    operation TEXT NOT NULL,
    author TEXT,
    id TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    bytes BIGINT NOT NULL,
    size BIGINT NOT NULL,
    metadata TEXT,
    text TEXT,
    PRIMARY KEY (agent_id, key, version)
  );
  INSERT INTO versions
    SELECT m.agent_id, m.key, m.version, s.seq, 'write', NULL, m.id, m.created_at, m.updated_at,
      octet_length(m.text), octet_length(m.text) + octet_length(m.metadata), m.metadata, m.text
    FROM kept_memories m JOIN (
      SELECT agent_id, key,
        row_number() OVER (PARTITION BY agent_id ORDER BY updated_at, key) AS seq
      FROM kept_memories
    ) s ON s.agent_id = m.agent_id AND s.key = m.key;
  DROP TABLE kept_memories;
  CREATE INDEX versions_by_seq ON versions (agent_id, seq);

  CREATE TABLE memories (
    agent_id TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    id TEXT NOT NULL,
    version BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    deleted BOOLEAN NOT NULL,
    size BIGINT NOT NULL,
    pinned BOOLEAN NOT NULL,
    PRIMARY KEY (agent_id, key)
  ) WITH (fillfactor = 80);
  INSERT INTO memories
    SELECT agent_id, key, id, version, created_at, updated_at, false, size, false FROM versions;
  ALTER TABLE memories ADD FOREIGN KEY (agent_id) REFERENCES agents (agent_id);

  CREATE TABLE homes (
    agent_id TEXT COLLATE "C" PRIMARY KEY REFERENCES agents (agent_id),
    memories BIGINT NOT NULL DEFAULT 0,
    bytes BIGINT NOT NULL DEFAULT 0,
    history BIGINT NOT NULL DEFAULT 0,
    last_event BIGINT NOT NULL DEFAULT 0,
    day BIGINT NOT NULL DEFAULT 0,
    day_writes BIGINT NOT NULL DEFAULT 0
  ) WITH (fillfactor = 50);
  INSERT INTO homes (agent_id, memories, bytes, history, last_event)
    SELECT a.agent_id, count(m.key), coalesce(sum(m.size), 0), 0, count(m.key)
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
  DROP TABLE slots;

  CREATE TABLE events (
    agent_id TEXT COLLATE "C" NOT NULL,
    id BIGINT NOT NULL,
    type TEXT NOT NULL,
    key TEXT,
    renamed_from TEXT,
    version BIGINT,
    author TEXT,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (agent_id, id)
  );`

const MEMORIES_AT_ONCE = 1_000

interface PerhapsPinned {
  agent_id: string
  key: string
  metadata: string
}

/** Read in one pass, whatever a server without statistics would make of pages. */
const lookForPinned = statement(
  '',
  `DECLARE perhaps_pinned NO SCROLL CURSOR FOR SELECT agent_id, key, metadata FROM versions
   WHERE position('"pinned"' in metadata) > 0 OR position('\\u' in metadata) > 0`,
)

const perhapsPinned = statement<PerhapsPinned>('', `FETCH ${MEMORIES_AT_ONCE} FROM perhaps_pinned`)

const pin = statement(
  'pin',
  `UPDATE memories m SET pinned = true FROM unnest($1::TEXT[], $2::TEXT[]) AS p (agent_id, key)
   WHERE m.agent_id = p.agent_id AND m.key = p.key`,
)

/** The server's own JSON does not read all that ours does. */
export async function findPinned(ask: Ask): Promise<void> {
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
}
