/**
 * The step of the schema for what agents ask for. Never to be edited once released.
 *
 * What an agent wrote is counted with its writes; this is the rest, written down now and then.
 */
export const addDailyCalls = `
  CREATE TABLE daily_calls (
    agent_id TEXT COLLATE "C" NOT NULL REFERENCES agents (agent_id),
    day BIGINT NOT NULL,
    reads BIGINT NOT NULL,
    conflicts BIGINT NOT NULL,
    refusals BIGINT NOT NULL,
    seen_at BIGINT NOT NULL,
    PRIMARY KEY (agent_id, day)
  );`
