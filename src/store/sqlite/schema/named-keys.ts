/**
 * The step of the schema for who may act for an agent. Never to be edited once released.
 *
 * A named key is an agent's token with bounds; of others they are null.
 */
export const addNamedKeys = `
  ALTER TABLE credentials ADD COLUMN key_id TEXT;
  ALTER TABLE credentials ADD COLUMN name TEXT;
  ALTER TABLE credentials ADD COLUMN access TEXT;
  ALTER TABLE credentials ADD COLUMN prefix TEXT;
  ALTER TABLE credentials ADD COLUMN expires_at INTEGER;
  ALTER TABLE credentials ADD COLUMN created_at INTEGER;
  ALTER TABLE credentials ADD COLUMN last_used_at INTEGER;

  CREATE TABLE operator_replacements (
    agent_id TEXT PRIMARY KEY REFERENCES agents (id),
    key_hash TEXT NOT NULL,
    salt TEXT NOT NULL,
    replaced_hash TEXT NOT NULL UNIQUE
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE erased_births (
    born_from TEXT,
    created_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX erased_births_by_time ON erased_births (created_at);`
