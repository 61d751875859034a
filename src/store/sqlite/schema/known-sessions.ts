/**
 * The step of the schema for what is known of a session. Never to be edited once released.
 *
 * Where it was begun from, when its owner last proved to be there, and how many forms that may be
 * sent once it has sent.
 */
export const knowSessions = `
  ALTER TABLE sessions ADD COLUMN place TEXT NOT NULL DEFAULT '';
  ALTER TABLE sessions ADD COLUMN confirmed_at INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE sessions ADD COLUMN turn INTEGER NOT NULL DEFAULT 0;`
