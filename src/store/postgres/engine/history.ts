/** The step of the schema that gives every memory a history. Never to be edited once released. */
import { isPinned } from '../../change.ts'
import { type Ask, statement } from './connections.ts'

/**
 * A memory is what is now; its texts are versions of it. What is there is the first version that is
 * known, whatever its number. What is written with every change refers to no other table: to check
 * it would lock the agent's row each time. There is room beside homes and memories, so that a change
 * of them touches no index.
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
    SELECT agent_id, key, version,
      row_number() OVER (PARTITION BY agent_id ORDER BY updated_at, key), 'write', NULL, id,
      created_at, updated_at, octet_length(text), octet_length(text) + octet_length(metadata),
      metadata, text
    FROM kept_memories;
  DROP TABLE kept_memories;
  CREATE INDEX versions_by_seq ON versions (agent_id, seq);

  CREATE TABLE memories (
    agent_id TEXT COLLATE "C" NOT NULL REFERENCES agents (agent_id),
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

  CREATE TABLE homes (
    agent_id TEXT COLLATE "C" PRIMARY KEY REFERENCES agents (agent_id),
    memories BIGINT NOT NULL,
    bytes BIGINT NOT NULL,
    history BIGINT NOT NULL,
    last_event BIGINT NOT NULL
  ) WITH (fillfactor = 50);
  INSERT INTO homes
    SELECT a.agent_id, count(m.key), coalesce(sum(m.size), 0), 0, count(m.key)
    FROM agents a LEFT JOIN memories m ON m.agent_id = a.agent_id GROUP BY a.agent_id;
  ALTER TABLE agents DROP COLUMN memory_count;

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

/** In the order of the keys, after one of them. */
const perhapsPinned = statement<PerhapsPinned>(
  'perhaps_pinned',
  `SELECT agent_id, key, metadata FROM versions
   WHERE (agent_id, key) > ($1, $2)
     AND (position('"pinned"' in metadata) > 0 OR position('\\u' in metadata) > 0)
   ORDER BY agent_id, key LIMIT ${MEMORIES_AT_ONCE}`,
)

const pin = statement(
  'pin',
  `UPDATE memories m SET pinned = true FROM unnest($1::TEXT[], $2::TEXT[]) AS p (agent_id, key)
   WHERE m.agent_id = p.agent_id AND m.key = p.key`,
)

/** The server's own JSON does not read all that ours does. */
export async function findPinned(ask: Ask): Promise<void> {
  for (let after = ['', '']; ; ) {
    const rows = await ask(perhapsPinned, ...after)
    const last = rows.at(-1)
    if (!last) return
    const pinned = rows.filter(({ metadata }) => isPinned(metadata))
    await ask(
      pin,
      pinned.map((row) => row.agent_id),
      pinned.map((row) => row.key),
    )
    after = [last.agent_id, last.key]
  }
}
