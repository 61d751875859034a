/**
 * The step of the schema with which imports are written ahead. Never to be edited once released.
 *
 * `imports`: those that a home took. What each brought lies below zero in its log, the later the
 * lower, and below all of them what an import has written that is not over yet.
 *
 * `staged_imports`: homes that may have such rows.
 */
export const writeImportsAhead = `
  ALTER TABLE homes ADD COLUMN imports INTEGER NOT NULL DEFAULT 0;
  CREATE TABLE staged_imports (
    agent_id TEXT PRIMARY KEY REFERENCES agents (id)
  ) STRICT, WITHOUT ROWID;`
