-- The whole schema of the embedded store. Tables and columns have the names that they have on
-- PostgreSQL, unless noted. Times are in milliseconds since 1970; days are days since then. Hashes,
-- salts and fingerprints are lower-case hex. A new database is created from this file, and the step
-- from 1.0.0 (schema/from-1.0.0.ts) ends with it.

-- One row. `oldest`: the oldest schema whose programs may still use this database. The version is in
-- `PRAGMA user_version` too, where 1.0.0 looks for it.
CREATE TABLE IF NOT EXISTS schema_version (
  id INTEGER PRIMARY KEY,
  version INTEGER NOT NULL,
  oldest INTEGER NOT NULL
) STRICT;

-- Operators' accounts of the console. `password_hash`: a PHC string. `admin`: removes entries of the
-- gateway.
CREATE TABLE IF NOT EXISTS accounts (
  id TEXT PRIMARY KEY,
  email TEXT NOT NULL UNIQUE,
  password_hash TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  admin INTEGER NOT NULL DEFAULT 0
) STRICT;

-- `rotated`: a token was replaced since the birth, which can then no longer be replayed.
CREATE TABLE IF NOT EXISTS agents (
  agent_id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  purpose TEXT NOT NULL,
  symbol TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('active', 'paused')),
  account_id TEXT REFERENCES accounts (id),
  rotated INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS agents_by_account ON agents (account_id, agent_id)
  WHERE account_id IS NOT NULL;

-- Births, found by the key that replays them: one for each agent, for as long as it is there. `born_from`: the client's address, for as long as
-- births an hour are counted by it.
CREATE TABLE IF NOT EXISTS births (
  key_hash TEXT PRIMARY KEY,
  agent_id TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  salt TEXT NOT NULL,
  born_from TEXT,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS births_by_time ON births (created_at) WHERE born_from IS NOT NULL;
CREATE INDEX IF NOT EXISTS births_by_address ON births (born_from, created_at)
  WHERE born_from IS NOT NULL;
CREATE INDEX IF NOT EXISTS births_by_agent ON births (agent_id);

-- Births of agents that were erased within the hour: they count in it as others do.
CREATE TABLE IF NOT EXISTS erased_births (
  born_from TEXT,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS erased_births_by_time ON erased_births (created_at);

-- Tokens. A named key has a `key_id` and its limits; `status` is the agent's, of its own tokens. A key
-- that was granted by OAuth names its client and the host of its redirect, and is good until
-- `granted_until` unless it is left unused; nobody has its own token. Its access tokens are further
-- rows with its `key_id`, and with the `audience` that alone takes them. `woke_at`: when its user first
-- asked what others had changed, on the last day on which it did; `woke_event`: the last event then.
CREATE TABLE IF NOT EXISTS credentials (
  token_hash TEXT PRIMARY KEY,
  agent_id TEXT NOT NULL REFERENCES agents (agent_id),
  kind TEXT NOT NULL CHECK (kind IN ('agent', 'operator')),
  key_id TEXT,
  name TEXT,
  access TEXT,
  prefix TEXT,
  expires_at INTEGER,
  created_at INTEGER,
  last_used_at INTEGER,
  status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'paused')),
  client_id TEXT,
  redirect_host TEXT,
  granted_until INTEGER,
  audience TEXT,
  woke_at INTEGER,
  woke_event INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS credentials_by_agent ON credentials (agent_id, kind);

-- The last replacement of an operator token, which is replayed as a birth is.
CREATE TABLE IF NOT EXISTS operator_replacements (
  agent_id TEXT PRIMARY KEY REFERENCES agents (agent_id),
  key_hash TEXT NOT NULL,
  salt TEXT NOT NULL,
  replaced_hash TEXT NOT NULL UNIQUE
) STRICT, WITHOUT ROWID;

-- Rows that a transaction locks on PostgreSQL, one at a time; here the writer is alone.
CREATE TABLE IF NOT EXISTS gates (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
INSERT INTO gates (name) VALUES ('births'), ('arrivals') ON CONFLICT (name) DO NOTHING;

-- The counters of a home. `bytes` of current memories, `history` of earlier versions, `deleted`:
-- memories that are tombstones; `first_event` to `last_event` are kept. `tail`: the newest row of its
-- log that is not in log_index yet. `imports`: above zero if it took any before schema 27, whose versions have ids below zero.
-- `erasures`: those that took a text; an export that began before the last of them must end.
-- `vectors`: bytes of its vectors; `last_vector`: the highest `n` among them so far. `head`: the hash
-- of the chain up to `last_event`; `base`: up to the event before `first_event`.
CREATE TABLE IF NOT EXISTS homes (
  agent_id TEXT PRIMARY KEY REFERENCES agents (agent_id),
  memories INTEGER NOT NULL DEFAULT 0,
  bytes INTEGER NOT NULL DEFAULT 0,
  history INTEGER NOT NULL DEFAULT 0,
  deleted INTEGER NOT NULL DEFAULT 0,
  floor INTEGER NOT NULL DEFAULT 0,
  last_event INTEGER NOT NULL DEFAULT 0,
  first_event INTEGER NOT NULL DEFAULT 1,
  tail INTEGER,
  oldest INTEGER NOT NULL DEFAULT 0,
  day INTEGER NOT NULL DEFAULT 0,
  day_writes INTEGER NOT NULL DEFAULT 0,
  imports INTEGER NOT NULL DEFAULT 0,
  erasures INTEGER NOT NULL DEFAULT 0,
  vectors INTEGER NOT NULL DEFAULT 0,
  last_vector INTEGER NOT NULL DEFAULT 0,
  head BLOB NOT NULL,
  base BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- What is now under each key: a memory or a tombstone, with the row `n` of the log that holds its
-- text. `change`: its event. `run`: how many versions before the newest follow each other under this
-- key, none missing, so that a version's number gives its position. `protected`: only the operator
-- can change it.
CREATE TABLE IF NOT EXISTS memories (
  agent_id TEXT NOT NULL,
  key TEXT NOT NULL,
  id TEXT NOT NULL,
  version INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  deleted INTEGER NOT NULL,
  size INTEGER NOT NULL,
  pinned INTEGER NOT NULL,
  protected INTEGER NOT NULL DEFAULT 0,
  change INTEGER NOT NULL,
  kept INTEGER NOT NULL,
  n INTEGER,
  run INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (agent_id, key)
) STRICT, WITHOUT ROWID;

-- The vectors that clients computed from current texts: 32-bit floats of length 1, little-endian.
-- `version`: the memory's; `n` counts those that were stored or moved in a home, in this order.
CREATE TABLE IF NOT EXISTS vectors (
  agent_id TEXT NOT NULL,
  key TEXT NOT NULL,
  model TEXT NOT NULL,
  version INTEGER NOT NULL,
  n INTEGER NOT NULL,
  vector BLOB NOT NULL,
  PRIMARY KEY (agent_id, key)
) STRICT;
CREATE UNIQUE INDEX IF NOT EXISTS vectors_in_turn ON vectors (agent_id, n);
CREATE INDEX IF NOT EXISTS vectors_by_model ON vectors (agent_id, model);

-- Everything that happened in any home, in this order, each change of a memory with the version that
-- it made. It grows only at its end, whichever home writes: that keeps writes sequential. `id` counts
-- the events of one home; a row that is no event has that of the event to which it belongs.
-- `before`: the row before it in the same home; `previous`: the version before it of the same memory.
-- `hash`: of an event, the chain up to it. `content`: what its version's text and metadata were
-- committed to with `salt`, which goes with the text. What no event committed to has neither: versions
-- from before the chain, and earlier ones that an import brought before schema 27, whose ids are below
-- zero. A version that an import brought as it was has its own author and time; its event's are
-- `event_author` and `happened_at` (null: the same). `made_as`: the key that it was made under, if that
-- was another.
CREATE TABLE IF NOT EXISTS log (
  n INTEGER PRIMARY KEY,
  agent_id TEXT NOT NULL,
  id INTEGER NOT NULL,
  before INTEGER,
  event TEXT,
  key TEXT,
  renamed_from TEXT,
  version INTEGER,
  author TEXT,
  updated_at INTEGER NOT NULL,
  operation TEXT,
  previous INTEGER,
  memory_id TEXT,
  created_at INTEGER,
  bytes INTEGER,
  size INTEGER,
  hash BLOB,
  content BLOB,
  salt BLOB,
  metadata TEXT,
  text TEXT,
  event_author TEXT,
  happened_at INTEGER,
  made_as TEXT
) STRICT;

-- Where the rows of a home are in the log. Many are filed at once; those that are not yet in it are
-- found by `before`, beginning with the `tail` of their home.
CREATE TABLE IF NOT EXISTS log_index (
  agent_id TEXT NOT NULL,
  id INTEGER NOT NULL,
  n INTEGER NOT NULL,
  PRIMARY KEY (agent_id, id, n)
) STRICT, WITHOUT ROWID;

-- Imports and rollbacks that have begun and not ended: the event that says that one began, and what a
-- rollback is asked to do (null: an import).
CREATE TABLE IF NOT EXISTS unfinished (
  agent_id TEXT PRIMARY KEY REFERENCES agents (agent_id),
  event INTEGER NOT NULL,
  rollback TEXT
) STRICT, WITHOUT ROWID;

-- Appends that were sent with an Idempotency-Key, found by its hash together with who sent it: a
-- repeated call is answered by `answer`, the memory without its text. `event`: what the append logged.
-- Those of the last 10,000 events of a home count, for a day.
CREATE TABLE IF NOT EXISTS keyed_appends (
  agent_id TEXT NOT NULL,
  event INTEGER NOT NULL,
  key_hash TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  answer TEXT NOT NULL,
  made_at INTEGER NOT NULL,
  PRIMARY KEY (agent_id, event)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS keyed_appends_by_key ON keyed_appends (agent_id, key_hash);

-- Agents that were erased, of whose log there may still be rows.
CREATE TABLE IF NOT EXISTS erased_agents (
  agent_id TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- Writes of each agent by day, but for the day in its home.
CREATE TABLE IF NOT EXISTS daily_writes (
  agent_id TEXT NOT NULL REFERENCES agents (agent_id),
  day INTEGER NOT NULL,
  writes INTEGER NOT NULL,
  PRIMARY KEY (agent_id, day)
) STRICT, WITHOUT ROWID;

-- Other calls of each agent by day.
CREATE TABLE IF NOT EXISTS daily_calls (
  agent_id TEXT NOT NULL REFERENCES agents (agent_id),
  day INTEGER NOT NULL,
  reads INTEGER NOT NULL,
  conflicts INTEGER NOT NULL,
  refusals INTEGER NOT NULL,
  seen_at INTEGER NOT NULL,
  PRIMARY KEY (agent_id, day)
) STRICT, WITHOUT ROWID;

-- Sessions of the console. `confirmed_at`: when its owner last gave a password or a passkey. `turn`:
-- how many forms that may be sent only once it has sent.
CREATE TABLE IF NOT EXISTS sessions (
  token_hash TEXT PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  user_agent TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  seen_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  place TEXT NOT NULL DEFAULT '',
  confirmed_at INTEGER NOT NULL DEFAULT 0,
  turn INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS sessions_by_account ON sessions (account_id);
CREATE INDEX IF NOT EXISTS sessions_by_expiry ON sessions (expires_at);

-- The last sign-ins of an account, each with the id of its session, which may have ended.
CREATE TABLE IF NOT EXISTS sign_ins (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  signed_in_at INTEGER NOT NULL,
  user_agent TEXT NOT NULL,
  place TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS sign_ins_by_account ON sign_ins (account_id, signed_in_at);

-- Client addresses that an account was signed in from.
CREATE TABLE IF NOT EXISTS sign_in_addresses (
  address_hash TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  seen_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS sign_in_addresses_by_account ON sign_in_addresses (account_id, seen_at);

-- One link for each account with which a new password can be set.
CREATE TABLE IF NOT EXISTS account_recoveries (
  account_id TEXT PRIMARY KEY REFERENCES accounts (id),
  secret_hash TEXT NOT NULL UNIQUE,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS passkeys (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  public_key TEXT NOT NULL,
  counter INTEGER NOT NULL,
  site TEXT NOT NULL,
  transports TEXT NOT NULL,
  user_agent TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  used_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS passkeys_by_account ON passkeys (account_id, created_at);

-- Challenges that a passkey has answered, until they expire.
CREATE TABLE IF NOT EXISTS spent_challenges (
  hash TEXT PRIMARY KEY,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS spent_challenges_by_end ON spent_challenges (expires_at);

-- Secrets that all processes on this data share.
CREATE TABLE IF NOT EXISTS shared_secrets (
  name TEXT PRIMARY KEY,
  secret TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What OAuth keeps besides keys: clients that registered, metadata documents of others, codes and
-- refresh tokens. Of an id only the hash is kept. `agent_id` and `key_id`: the grant that
-- it belongs to. `consumed_at`: when a code or a refresh token was used, or last reused.
CREATE TABLE IF NOT EXISTS oauth_records (
  id_hash TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  agent_id TEXT,
  key_id TEXT,
  payload TEXT NOT NULL,
  consumed_at INTEGER,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS oauth_records_by_end ON oauth_records (expires_at);
CREATE INDEX IF NOT EXISTS oauth_records_by_grant ON oauth_records (agent_id, key_id);

-- What visitors left in the gateway. `labels`: a JSON array; `bytes`: what it counts of its feed.
CREATE TABLE IF NOT EXISTS entries (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  feed TEXT NOT NULL,
  room TEXT NOT NULL,
  identity TEXT NOT NULL,
  identity_type TEXT NOT NULL,
  details TEXT NOT NULL,
  labels TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  text TEXT NOT NULL,
  bytes INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX IF NOT EXISTS entries_by_feed ON entries (feed, n, bytes);
CREATE INDEX IF NOT EXISTS entries_by_room ON entries (room, n);

CREATE TABLE IF NOT EXISTS entry_labels (
  feed TEXT NOT NULL,
  label TEXT NOT NULL,
  n INTEGER NOT NULL,
  PRIMARY KEY (feed, label, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS room_counts (
  feed TEXT NOT NULL,
  room TEXT NOT NULL,
  entries INTEGER NOT NULL,
  bytes INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (feed, room)
) STRICT, WITHOUT ROWID;

-- Labels, words and counts of new entries are filed once for each commit; each time is a segment of
-- the words, so more of them are merged at once.
CREATE VIRTUAL TABLE IF NOT EXISTS entry_words
  USING fts5 (text, content = '', contentless_delete = 1);
INSERT INTO entry_words (entry_words, rank) VALUES ('automerge', 16);

CREATE TRIGGER IF NOT EXISTS entry_composted AFTER DELETE ON entries BEGIN
  DELETE FROM entry_labels WHERE feed = old.feed AND n = old.n
    AND label IN (SELECT value FROM json_each(old.labels));
  DELETE FROM entry_words WHERE rowid = old.n AND old.text <> '';
  UPDATE room_counts SET entries = entries - 1, bytes = bytes - old.bytes
    WHERE feed = old.feed AND room = old.room;
END;

-- Written to prove that a write commits.
CREATE TABLE IF NOT EXISTS heartbeat (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  written_at INTEGER NOT NULL
) STRICT;
