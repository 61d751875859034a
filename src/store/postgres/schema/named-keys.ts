/**
 * The step of the schema for who may act for an agent. Never to be edited once released.
 *
 * A named key is an agent's token with bounds; of others they are null.
 */
export const addNamedKeys = `
  ALTER TABLE credentials ADD COLUMN key_id TEXT, ADD COLUMN name TEXT, ADD COLUMN access TEXT,
    ADD COLUMN prefix TEXT, ADD COLUMN expires_at BIGINT, ADD COLUMN created_at BIGINT,
    ADD COLUMN last_used_at BIGINT;

  CREATE TABLE operator_replacements (
    agent_id TEXT COLLATE "C" PRIMARY KEY REFERENCES agents (agent_id),
    key_hash TEXT NOT NULL,
    salt TEXT NOT NULL,
    replaced_hash TEXT NOT NULL UNIQUE
  );

  CREATE TABLE erased_births (
    born_from TEXT,
    created_at BIGINT NOT NULL
  );
  CREATE INDEX erased_births_by_time ON erased_births (created_at);
  CREATE INDEX births_by_agent ON births (agent_id);`
