-- The whole schema of the store on PostgreSQL. Tables and columns have the names that they have on
-- SQLite, unless noted. Times are in milliseconds since 1970; days are days since then. Hashes, salts
-- and fingerprints are lower-case hex. Text that is compared or ordered is in byte order, whatever
-- the database's locale. Nothing here needs an extension, a sequence or a trigger. A new database is
-- created from this file, and the step from 1.0.0 (schema/from-1.0.0.ts) ends with it.

-- One row. `oldest`: the oldest schema whose programs may still use this database. `place`: how far an
-- unfinished step to `version` has come; on SQLite a step is one transaction.
CREATE TABLE IF NOT EXISTS schema_version (
  id INTEGER PRIMARY KEY,
  version INTEGER NOT NULL,
  oldest INTEGER NOT NULL,
  place TEXT
);

-- Operators' accounts of the console. `password_hash`: a PHC string. `admin`: removes entries of the
-- gateway.
CREATE TABLE IF NOT EXISTS accounts (
  id TEXT PRIMARY KEY,
  email TEXT NOT NULL UNIQUE,
  password_hash TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  admin BOOLEAN NOT NULL DEFAULT false
);

-- `rotated`: a token was replaced since the birth, which can then no longer be replayed.
CREATE TABLE IF NOT EXISTS agents (
  agent_id TEXT COLLATE "C" PRIMARY KEY,
  name TEXT NOT NULL,
  purpose TEXT NOT NULL,
  symbol TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('active', 'paused')),
  account_id TEXT REFERENCES accounts (id),
  rotated BOOLEAN NOT NULL DEFAULT false,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);
CREATE INDEX IF NOT EXISTS agents_by_account ON agents (account_id, agent_id);

-- Births, found by the key that replays them: one for each agent, for as long as it is there. `born_from`: the client's address, for as long as
-- births an hour are counted by it.
CREATE TABLE IF NOT EXISTS births (
  key_hash TEXT PRIMARY KEY,
  agent_id TEXT COLLATE "C" NOT NULL,
  fingerprint TEXT NOT NULL,
  salt TEXT NOT NULL,
  born_from TEXT COLLATE "C",
  created_at BIGINT NOT NULL
);
CREATE INDEX IF NOT EXISTS births_by_time ON births (created_at) WHERE born_from IS NOT NULL;
CREATE INDEX IF NOT EXISTS births_by_address ON births (born_from, created_at)
  WHERE born_from IS NOT NULL;
CREATE INDEX IF NOT EXISTS births_by_agent ON births (agent_id);

-- Births of agents that were erased within the hour: they count in it as others do.
CREATE TABLE IF NOT EXISTS erased_births (
  born_from TEXT COLLATE "C",
  created_at BIGINT NOT NULL
);
CREATE INDEX IF NOT EXISTS erased_births_by_time ON erased_births (created_at);

-- Tokens. A named key has a `key_id` and its limits; `status` is the agent's, of its own tokens. A key
-- that was granted by OAuth names its client and the host of its redirect, and is good until
-- `granted_until` unless it is left unused; nobody has its own token. Its access tokens are further
-- rows with its `key_id`, and with the `audience` that alone takes them. `woke_at`: when its user first
-- asked what others had changed, on the last day on which it did; `woke_event`: the last event then.
CREATE TABLE IF NOT EXISTS credentials (
  agent_id TEXT COLLATE "C" NOT NULL REFERENCES agents (agent_id),
  token_hash TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('agent', 'operator')),
  status TEXT NOT NULL CHECK (status IN ('active', 'paused')),
  key_id TEXT,
  name TEXT,
  access TEXT,
  prefix TEXT,
  expires_at BIGINT,
  created_at BIGINT,
  last_used_at BIGINT,
  client_id TEXT,
  redirect_host TEXT,
  granted_until BIGINT,
  audience TEXT,
  woke_at BIGINT,
  woke_event BIGINT,
  PRIMARY KEY (agent_id, token_hash)
);
CREATE INDEX IF NOT EXISTS credentials_by_token ON credentials (token_hash);

-- The last replacement of an operator token, which is replayed as a birth is.
CREATE TABLE IF NOT EXISTS operator_replacements (
  agent_id TEXT COLLATE "C" PRIMARY KEY REFERENCES agents (agent_id),
  key_hash TEXT NOT NULL,
  salt TEXT NOT NULL,
  replaced_hash TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS operator_replacements_by_token ON operator_replacements (replaced_hash);

-- Rows that one transaction at a time locks: births and arrivals in the gateway are counted.
CREATE TABLE IF NOT EXISTS gates (name TEXT PRIMARY KEY);
INSERT INTO gates (name) VALUES ('births'), ('arrivals') ON CONFLICT (name) DO NOTHING;

-- The counters of a home. `bytes` of current memories, `history` of earlier versions, `deleted`:
-- memories that are tombstones; `first_event` to `last_event` are kept. `erasures`: those that took
-- a text; an export that began before the last of them must end. `head`: the hash of the chain up to
-- `last_event`; `base`: up to the event before `first_event`. Homes and memories have room beside
-- them, so that a change of a row touches no index.
CREATE TABLE IF NOT EXISTS homes (
  agent_id TEXT COLLATE "C" PRIMARY KEY REFERENCES agents (agent_id),
  memories BIGINT NOT NULL DEFAULT 0,
  bytes BIGINT NOT NULL DEFAULT 0,
  history BIGINT NOT NULL DEFAULT 0,
  deleted BIGINT NOT NULL DEFAULT 0,
  floor BIGINT NOT NULL DEFAULT 0,
  last_event BIGINT NOT NULL DEFAULT 0,
  first_event BIGINT NOT NULL DEFAULT 1,
  day BIGINT NOT NULL DEFAULT 0,
  day_writes BIGINT NOT NULL DEFAULT 0,
  erasures BIGINT NOT NULL DEFAULT 0,
  vectors BIGINT NOT NULL DEFAULT 0,
  last_vector BIGINT NOT NULL DEFAULT 0,
  head BYTEA NOT NULL,
  base BYTEA NOT NULL
) WITH (fillfactor = 50);

-- What is now under each key: a memory or a tombstone, with the row `n` of the log that holds its
-- text. `protected`: only the operator can change it. Neither it nor the log refers to agents: to check that would lock the agent's row each time.
CREATE TABLE IF NOT EXISTS memories (
  agent_id TEXT COLLATE "C" NOT NULL,
  key TEXT COLLATE "C" NOT NULL,
  id TEXT NOT NULL,
  version BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  size BIGINT NOT NULL,
  n BIGINT,
  deleted BOOLEAN NOT NULL,
  pinned BOOLEAN NOT NULL,
  protected BOOLEAN NOT NULL DEFAULT false,
  PRIMARY KEY (agent_id, key)
) WITH (fillfactor = 80);

-- The vectors that clients computed from current texts: 32-bit floats of length 1, little-endian.
-- `version`: the memory's; `n` counts those that were stored or moved in a home, in this order.
CREATE TABLE IF NOT EXISTS vectors (
  agent_id TEXT COLLATE "C" NOT NULL,
  key TEXT COLLATE "C" NOT NULL,
  model TEXT NOT NULL,
  version BIGINT NOT NULL,
  n BIGINT NOT NULL,
  vector BYTEA NOT NULL,
  PRIMARY KEY (agent_id, key)
);
CREATE UNIQUE INDEX IF NOT EXISTS vectors_in_turn ON vectors (agent_id, n);
CREATE INDEX IF NOT EXISTS vectors_by_model ON vectors (agent_id, model);

-- Everything that happened in a home, numbered in it by `n`, each change of a memory with the version
-- that it made (`kept`). `previous`: the version before it of
-- the same memory. `hash`: of an event, the chain up to it. `content`: what its version's text and
-- metadata were committed to with `salt`, which goes with the text. What no event committed to has
-- neither: versions from before the chain, and earlier ones that an import brought before schema 27,
-- which are below zero. A version that an import brought as it was has its own author and time; its
-- event's are `event_author` and `happened_at` (null: the same). `made_as`: the key that it was made
-- under, if that was another. On SQLite `n` counts the rows of all homes.
CREATE TABLE IF NOT EXISTS log (
  agent_id TEXT COLLATE "C" NOT NULL,
  n BIGINT NOT NULL,
  previous BIGINT,
  kept BOOLEAN NOT NULL,
  version BIGINT,
  created_at BIGINT,
  updated_at BIGINT NOT NULL,
  happened_at BIGINT,
  bytes BIGINT NOT NULL DEFAULT 0,
  size BIGINT NOT NULL DEFAULT 0,
  key TEXT COLLATE "C",
  renamed_from TEXT,
  memory_id TEXT,
  operation TEXT NOT NULL,
  author TEXT,
  event TEXT,
  event_author TEXT,
  hash BYTEA,
  content BYTEA,
  salt BYTEA,
  metadata TEXT,
  text TEXT,
  made_as TEXT COLLATE "C",
  PRIMARY KEY (agent_id, n)
);

-- Imports and rollbacks that have begun and not ended: the event that says that one began, what a
-- rollback is asked to do (null: an import), which node goes on with it, and until when, by the server's
-- clock, unless it says so again.
CREATE TABLE IF NOT EXISTS unfinished (
  agent_id TEXT COLLATE "C" PRIMARY KEY,
  event BIGINT NOT NULL,
  rollback TEXT,
  holder TEXT NOT NULL,
  held_until BIGINT NOT NULL
);

-- Appends that were sent with an Idempotency-Key, found by its hash together with who sent it: a
-- repeated call is answered by `answer`, the memory without its text. `event`: what the append logged.
-- Those of the last 10,000 events of a home count, for a day.
CREATE TABLE IF NOT EXISTS keyed_appends (
  agent_id TEXT COLLATE "C" NOT NULL,
  event BIGINT NOT NULL,
  key_hash TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  answer TEXT NOT NULL,
  made_at BIGINT NOT NULL,
  PRIMARY KEY (agent_id, event)
);
CREATE INDEX IF NOT EXISTS keyed_appends_by_key ON keyed_appends (agent_id, key_hash);

-- Agents that were erased, of whose memories and log there may still be rows.
CREATE TABLE IF NOT EXISTS erased_agents (
  agent_id TEXT COLLATE "C" PRIMARY KEY
);

-- Writes of each agent by day, but for the day in its home.
CREATE TABLE IF NOT EXISTS daily_writes (
  agent_id TEXT COLLATE "C" NOT NULL REFERENCES agents (agent_id),
  day BIGINT NOT NULL,
  writes BIGINT NOT NULL,
  PRIMARY KEY (agent_id, day)
);

-- Other calls of each agent by day.
CREATE TABLE IF NOT EXISTS daily_calls (
  agent_id TEXT COLLATE "C" NOT NULL REFERENCES agents (agent_id),
  day BIGINT NOT NULL,
  reads BIGINT NOT NULL,
  conflicts BIGINT NOT NULL,
  refusals BIGINT NOT NULL,
  seen_at BIGINT NOT NULL,
  PRIMARY KEY (agent_id, day)
);

-- Sessions of the console. `confirmed_at`: when its owner last gave a password or a passkey. `turn`:
-- how many forms that may be sent only once it has sent.
CREATE TABLE IF NOT EXISTS sessions (
  token_hash TEXT PRIMARY KEY,
  id TEXT COLLATE "C" NOT NULL UNIQUE,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  user_agent TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  seen_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  place TEXT NOT NULL DEFAULT '',
  confirmed_at BIGINT NOT NULL DEFAULT 0,
  turn BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS sessions_by_account ON sessions (account_id);
CREATE INDEX IF NOT EXISTS sessions_by_expiry ON sessions (expires_at);

-- The last sign-ins of an account, each with the id of its session, which may have ended.
CREATE TABLE IF NOT EXISTS sign_ins (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  signed_in_at BIGINT NOT NULL,
  user_agent TEXT NOT NULL,
  place TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS sign_ins_by_account ON sign_ins (account_id, signed_in_at);

-- Client addresses that an account was signed in from.
CREATE TABLE IF NOT EXISTS sign_in_addresses (
  address_hash TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  seen_at BIGINT NOT NULL
);
CREATE INDEX IF NOT EXISTS sign_in_addresses_by_account ON sign_in_addresses (account_id, seen_at);

-- One link for each account with which a new password can be set.
CREATE TABLE IF NOT EXISTS account_recoveries (
  account_id TEXT PRIMARY KEY REFERENCES accounts (id),
  secret_hash TEXT NOT NULL UNIQUE,
  expires_at BIGINT NOT NULL
);

CREATE TABLE IF NOT EXISTS passkeys (
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
CREATE INDEX IF NOT EXISTS passkeys_by_account ON passkeys (account_id, created_at);

-- Challenges that a passkey has answered, until they expire.
CREATE TABLE IF NOT EXISTS spent_challenges (
  hash TEXT PRIMARY KEY,
  expires_at BIGINT NOT NULL
);
CREATE INDEX IF NOT EXISTS spent_challenges_by_end ON spent_challenges (expires_at);

-- Secrets that all processes on this data share.
CREATE TABLE IF NOT EXISTS shared_secrets (
  name TEXT PRIMARY KEY,
  secret TEXT NOT NULL
);

-- What OAuth keeps besides keys: clients that registered, metadata documents of others, codes and
-- refresh tokens. Of an id only the hash is kept. `agent_id` and `key_id`: the grant that
-- it belongs to. `consumed_at`: when a code or a refresh token was used, or last reused.
CREATE TABLE IF NOT EXISTS oauth_records (
  id_hash TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  agent_id TEXT COLLATE "C",
  key_id TEXT,
  payload TEXT NOT NULL,
  consumed_at BIGINT,
  expires_at BIGINT NOT NULL
);
CREATE INDEX IF NOT EXISTS oauth_records_by_end ON oauth_records (expires_at);
CREATE INDEX IF NOT EXISTS oauth_records_by_grant ON oauth_records (agent_id, key_id);

-- What visitors left in the gateway. `words`: its words, as the program splits them; `bytes`: what it
-- counts of its feed.
CREATE TABLE IF NOT EXISTS entries (
  id TEXT COLLATE "C" PRIMARY KEY,
  feed TEXT NOT NULL,
  room TEXT NOT NULL,
  identity TEXT NOT NULL,
  identity_type TEXT NOT NULL,
  details TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  text TEXT NOT NULL,
  words TSVECTOR NOT NULL,
  bytes BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS entries_by_feed ON entries (feed, id);
CREATE INDEX IF NOT EXISTS entries_by_room ON entries (room, id);

-- An index keeps every word that ever was, and strangers make up words without end: so words share
-- 2^20 buckets, and a search rechecks each row. Its pending list would have one post file all of it.
-- Nobody needs statistics of it, for which a sample's buckets would be computed anew.
CREATE OR REPLACE FUNCTION word_places(TSVECTOR) RETURNS INTEGER[] LANGUAGE sql IMMUTABLE PARALLEL SAFE
  AS 'SELECT array_agg((''x'' || left(md5(word), 5))::BIT(20)::INTEGER)
        FROM unnest(tsvector_to_array($1)) AS t (word)';
CREATE INDEX IF NOT EXISTS entries_by_place ON entries USING GIN (word_places(words))
  WITH (fastupdate = off);
ALTER INDEX entries_by_place ALTER COLUMN 1 SET STATISTICS 0;

-- Ids of entries with any of some words, the newest first, of the feed $3 or all but $4. A word that shares
-- its bucket with a common one is looked for in the newest 1,000 entries of the bucket. Only the index may answer: the
-- planner takes a row's words to cost nothing, and would read all of them for a rare word.
CREATE OR REPLACE FUNCTION find_kindred(TEXT[], BIGINT, TEXT, TEXT) RETURNS SETOF TEXT LANGUAGE sql STABLE
  SET enable_seqscan = off SET enable_indexscan = off
  AS 'SELECT id FROM (
          SELECT id, feed, words FROM entries WHERE word_places(words) && word_places(array_to_tsvector($1))
          ORDER BY id DESC LIMIT 1000
        ) AS candidates
        WHERE feed = coalesce($3, feed) AND feed <> coalesce($4, '''')
          AND tsvector_to_array(words) && $1 ORDER BY id DESC LIMIT $2';

CREATE TABLE IF NOT EXISTS entry_labels (
  feed TEXT NOT NULL,
  label TEXT NOT NULL,
  id TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (feed, label, id)
);
CREATE INDEX IF NOT EXISTS entry_labels_by_entry ON entry_labels (feed, id);

CREATE TABLE IF NOT EXISTS room_counts (
  feed TEXT NOT NULL,
  room TEXT NOT NULL,
  entries BIGINT NOT NULL,
  bytes BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (feed, room)
);

-- Permits that the nodes lease of limits they share. Lost in a crash, which nobody notices.
CREATE UNLOGGED TABLE IF NOT EXISTS permits (
  budget TEXT NOT NULL,
  key TEXT NOT NULL,
  granted BIGINT NOT NULL,
  taken BIGINT NOT NULL,
  ends_at BIGINT NOT NULL,
  PRIMARY KEY (budget, key)
);
CREATE INDEX IF NOT EXISTS permits_by_end ON permits (ends_at);

-- Written to prove that a write commits.
CREATE TABLE IF NOT EXISTS heartbeat (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  written_at BIGINT NOT NULL
);
