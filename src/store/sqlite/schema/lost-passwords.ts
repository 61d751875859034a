/**
 * The step of the schema for accounts whose password was lost. Never to be edited once released.
 *
 * One link at a time for each account: whoever holds it sets another password.
 */
export const addRecoveries = `
  CREATE TABLE account_recoveries (
    account_id TEXT PRIMARY KEY REFERENCES accounts (id),
    secret_hash TEXT NOT NULL UNIQUE,
    expires_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;`
