/**
 * The step of the schema for what was, and for what happened. Never to be edited once released.
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
 * What is there is the first version that is known, whatever its number. CROSS JOIN has the old rows
 * read as they lie: the planner would look them up one by one, in half as much time again.
 */
export const addHistory = `
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
  ) STRICT;
  INSERT INTO log
    SELECT m.rowid, m.agent_id, s.id, NULL, NULL, m.key, NULL, m.version, NULL, m.updated_at,
      'write', NULL, m.id, m.created_at, octet_length(m.text),
      octet_length(m.text) + octet_length(m.metadata), m.metadata, m.text
    FROM kept_memories m CROSS JOIN (
      SELECT rowid AS r, row_number() OVER (PARTITION BY agent_id ORDER BY updated_at, key) AS id
      FROM kept_memories
    ) s ON s.r = m.rowid;

  CREATE TABLE log_index (
    agent_id TEXT NOT NULL,
    id INTEGER NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (agent_id, id, n)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO log_index SELECT agent_id, id, n FROM log ORDER BY agent_id, id;

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
    SELECT m.agent_id, m.key, m.id, m.version, m.created_at, m.updated_at, 0,
      octet_length(m.text) + octet_length(m.metadata),
      coalesce(json_extract(m.metadata, '$.pinned') = 1
        AND json_type(m.metadata, '$.pinned') = 'true', 0), l.id, 1, l.n
    FROM kept_memories m JOIN log l ON l.n = m.rowid ORDER BY m.agent_id, m.key;
  DROP TABLE kept_memories;

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
