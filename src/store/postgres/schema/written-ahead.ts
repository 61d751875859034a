/**
 * The step of the schema with which imports are written ahead. Never to be edited once released.
 *
 * `staged_imports`: what is not over. Its rows lie in the home's log from `place` on, where nothing
 * names them; `touched_at` is when the last of them came, by the server's clock, and 0 of one that
 * is given up.
 */
export const writeImportsAhead = `
  CREATE TABLE staged_imports (
    agent_id TEXT COLLATE "C" NOT NULL,
    place BIGINT NOT NULL,
    id TEXT NOT NULL,
    touched_at BIGINT NOT NULL,
    PRIMARY KEY (agent_id, place)
  );`
