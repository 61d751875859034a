/**
 * The step of the schema for what agents ask for. Never to be edited once released.
 *
 * What an agent wrote is counted with its writes; this is the rest, written down now and then.
 */
export const addDailyCalls = `
  CREATE TABLE daily_calls (
    agent_id TEXT NOT NULL REFERENCES agents (id),
    day INTEGER NOT NULL,
    reads INTEGER NOT NULL,
    conflicts INTEGER NOT NULL,
    refusals INTEGER NOT NULL,
    seen_at INTEGER NOT NULL,
    PRIMARY KEY (agent_id, day)
  ) STRICT, WITHOUT ROWID;`
