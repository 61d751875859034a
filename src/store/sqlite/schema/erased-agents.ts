/**
 * The step of the schema with which an agent is erased in slices. Never to be edited once released.
 *
 * `erased_agents`: agents that are gone, of whose log there may be rows yet.
 */
export const eraseInSlices = `
  CREATE TABLE erased_agents (
    agent_id TEXT PRIMARY KEY
  ) STRICT, WITHOUT ROWID;`
