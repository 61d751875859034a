/**
 * The step of the schema for passkeys. Never to be edited once released.
 *
 * `spent_challenges`: what passkeys have answered to, until nobody accepts it any more.
 *
 * `shared_secrets`: what every process on this data must know alike, and nobody else.
 */
export const addPasskeys = `
  CREATE TABLE passkeys (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    public_key TEXT NOT NULL,
    counter BIGINT NOT NULL,
    site TEXT NOT NULL,
    transports TEXT NOT NULL,
    user_agent TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    used_at BIGINT
  );
  CREATE INDEX passkeys_by_account ON passkeys (account_id, created_at);
  CREATE TABLE spent_challenges (
    hash TEXT PRIMARY KEY,
    expires_at BIGINT NOT NULL
  );
  CREATE INDEX spent_challenges_by_end ON spent_challenges (expires_at);
  CREATE TABLE shared_secrets (
    name TEXT PRIMARY KEY,
    secret TEXT NOT NULL
  );`
