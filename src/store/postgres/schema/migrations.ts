/** Forward-only steps of the schema. Append; never edit a step that was released. */
import { StoreRefused } from '../../port/errors.ts'
import type { Progress } from '../../port/store.ts'
import { checkServer } from '../engine/checks.ts'
import { type Ask, openConnections, statement } from '../engine/connections.ts'
import type { Hosts } from '../engine/hosts.ts'
import { placeWords, splitAnew } from '../engine/words.ts'
import { addPasskeys } from './added-passkeys.ts'
import { countErasures } from './counted-erasures.ts'
import { addDailyCalls } from './daily-calls.ts'
import { eraseInSlices } from './erased-agents.ts'
import { beginHistory, findPinned } from './history.ts'
import { knowSessions } from './known-sessions.ts'
import { addRecoveries } from './lost-passwords.ts'
import { addNamedKeys } from './named-keys.ts'
import { writeImportsAhead } from './written-ahead.ts'

/**
 * Text that is compared or ordered is in byte order, whatever the database's locale.
 * Nothing here needs an extension, a sequence or a trigger.
 */
const steps: readonly (string | ((ask: Ask, progress: Progress) => Promise<void>))[] = [
  `CREATE TABLE accounts (
     id TEXT PRIMARY KEY,
     email TEXT NOT NULL UNIQUE,
     password_hash TEXT NOT NULL,
     created_at BIGINT NOT NULL
   );

   CREATE TABLE agents (
     agent_id TEXT COLLATE "C" PRIMARY KEY,
     name TEXT NOT NULL,
     purpose TEXT NOT NULL,
     symbol TEXT NOT NULL,
     status TEXT NOT NULL CHECK (status IN ('active', 'paused')),
     memory_count BIGINT NOT NULL DEFAULT 0,
     account_id TEXT REFERENCES accounts (id),
     rotated BOOLEAN NOT NULL DEFAULT false,
     created_at BIGINT NOT NULL,
     updated_at BIGINT NOT NULL
   );
   CREATE INDEX agents_by_account ON agents (account_id, agent_id);

   CREATE TABLE credentials (
     agent_id TEXT COLLATE "C" NOT NULL REFERENCES agents (agent_id),
     token_hash TEXT NOT NULL,
     kind TEXT NOT NULL CHECK (kind IN ('agent', 'operator')),
     status TEXT NOT NULL CHECK (status IN ('active', 'paused')),
     PRIMARY KEY (agent_id, token_hash)
   );
   CREATE INDEX credentials_by_token ON credentials (token_hash);

   CREATE TABLE births (
     key_hash TEXT PRIMARY KEY,
     agent_id TEXT COLLATE "C" NOT NULL,
     fingerprint TEXT NOT NULL,
     salt TEXT NOT NULL,
     born_from TEXT,
     created_at BIGINT NOT NULL
   );
   CREATE INDEX births_by_time ON births (created_at);
   CREATE INDEX births_by_address ON births (born_from, created_at) WHERE born_from IS NOT NULL;

   CREATE TABLE memories (
     agent_id TEXT COLLATE "C" NOT NULL REFERENCES agents (agent_id),
     key TEXT COLLATE "C" NOT NULL,
     id TEXT NOT NULL,
     text TEXT NOT NULL,
     metadata TEXT NOT NULL,
     version BIGINT NOT NULL,
     created_at BIGINT NOT NULL,
     updated_at BIGINT NOT NULL,
     PRIMARY KEY (agent_id, key)
   );

   CREATE TABLE daily_writes (
     agent_id TEXT COLLATE "C" NOT NULL REFERENCES agents (agent_id),
     day BIGINT NOT NULL,
     slot TEXT NOT NULL,
     writes BIGINT NOT NULL,
     PRIMARY KEY (agent_id, day, slot)
   );

   CREATE TABLE sessions (
     token_hash TEXT PRIMARY KEY,
     id TEXT COLLATE "C" NOT NULL UNIQUE,
     account_id TEXT NOT NULL REFERENCES accounts (id),
     user_agent TEXT NOT NULL,
     created_at BIGINT NOT NULL,
     seen_at BIGINT NOT NULL,
     expires_at BIGINT NOT NULL
   );
   CREATE INDEX sessions_by_account ON sessions (account_id);
   CREATE INDEX sessions_by_expiry ON sessions (expires_at);

   CREATE TABLE gates (name TEXT PRIMARY KEY);
   INSERT INTO gates (name) VALUES ('births'), ('arrivals');

   CREATE TABLE heartbeat (
     id INTEGER PRIMARY KEY CHECK (id = 1),
     written_at BIGINT NOT NULL
   );`,

  `CREATE TABLE entries (
     id TEXT COLLATE "C" PRIMARY KEY,
     feed TEXT NOT NULL,
     room TEXT NOT NULL,
     identity TEXT NOT NULL,
     identity_type TEXT NOT NULL,
     details TEXT NOT NULL,
     created_at BIGINT NOT NULL,
     text TEXT NOT NULL,
     words TSVECTOR NOT NULL
   );
   CREATE INDEX entries_by_feed ON entries (feed, id);
   CREATE INDEX entries_by_room ON entries (room, id);
   CREATE INDEX entries_by_word ON entries USING GIN (words);

   CREATE TABLE entry_labels (
     feed TEXT NOT NULL,
     label TEXT NOT NULL,
     id TEXT COLLATE "C" NOT NULL,
     PRIMARY KEY (feed, label, id)
   );
   CREATE INDEX entry_labels_by_entry ON entry_labels (feed, id);

   CREATE TABLE room_counts (
     feed TEXT NOT NULL,
     room TEXT NOT NULL,
     entries BIGINT NOT NULL,
     PRIMARY KEY (feed, room)
   );`,

  `CREATE UNLOGGED TABLE permits (
     budget TEXT NOT NULL,
     key TEXT NOT NULL,
     granted BIGINT NOT NULL,
     taken BIGINT NOT NULL,
     ends_at BIGINT NOT NULL,
     PRIMARY KEY (budget, key)
   );`,

  // Words alone are looked for now, split as the embedded engine splits them. Only their index may
  // answer: the planner counts a row's words as nothing, and reads all of them for a rare word.
  `CREATE FUNCTION find_kindred(TSQUERY, BIGINT) RETURNS SETOF TEXT LANGUAGE sql STABLE
     SET enable_seqscan = off SET enable_indexscan = off
     AS 'SELECT id FROM entries WHERE words @@ $1 ORDER BY id DESC LIMIT $2';`,
  splitAnew,

  `CREATE TABLE sign_in_addresses (
     address_hash TEXT PRIMARY KEY,
     account_id TEXT NOT NULL REFERENCES accounts (id),
     seen_at BIGINT NOT NULL
   );
   CREATE INDEX sign_in_addresses_by_account ON sign_in_addresses (account_id, seen_at);`,
  // Feeds are bounded by bytes too. Entries from before have every word of theirs in the index.
  `ALTER TABLE entries ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0;
   ALTER TABLE room_counts ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0;
   UPDATE entries SET bytes = 512 + 2 * octet_length(text) + 4 * octet_length(details)
     + octet_length(identity);
   UPDATE room_counts r SET bytes = (
     SELECT coalesce(sum(e.bytes), 0) FROM entries e WHERE e.feed = r.feed AND e.room = r.room
   );`,

  beginHistory,
  findPinned,
  addNamedKeys,

  // Words wait in no list: whoever met it full had to file all of it, for seconds.
  `ALTER INDEX entries_by_word SET (fastupdate = off);
   SELECT gin_clean_pending_list('entries_by_word');`,

  placeWords,
  addRecoveries,
  addDailyCalls,
  knowSessions,
  writeImportsAhead,
  eraseInSlices,
  addPasskeys,
  countErasures,
]

/** The version of the schema that this program has. */
export const SCHEMA = steps.length

/** Any number will do, as long as nothing else in the database takes the same lock. */
const LOCK = 4_821_907

const lock = statement('lock_schema', `SELECT pg_advisory_xact_lock(${LOCK})`)

const createVersion = statement(
  'create_version',
  'CREATE TABLE IF NOT EXISTS schema_version (id INTEGER PRIMARY KEY, version INTEGER NOT NULL)',
)

const readVersion = statement<{ version: number }>(
  'schema_version',
  'SELECT version FROM schema_version WHERE id = 1',
)

const writeVersion = statement(
  'set_schema_version',
  `INSERT INTO schema_version (id, version) VALUES (1, $1)
   ON CONFLICT (id) DO UPDATE SET version = excluded.version`,
)

async function step(ask: Ask, progress: Progress): Promise<void> {
  await ask(lock)
  await ask(createVersion)
  const [found] = await ask(readVersion)
  const version = found?.version ?? 0
  if (version > SCHEMA) {
    throw new StoreRefused(
      `The database has schema ${version}, and this program knows ${SCHEMA}. Run the newer program that wrote it.`,
    )
  }
  if (version === SCHEMA) return
  for (const next of steps.slice(version)) {
    await (typeof next === 'string' ? ask(statement('', next)) : next(ask, progress))
  }
  await ask(writeVersion, SCHEMA)
}

/** A step may rewrite a large table, and other starters wait for it. */
const PATIENCE_MS = 600_000

/**
 * Checks the server and brings its schema up to date, safe with several starters. Answers what
 * should be put right. Throws StoreRefused when a newer program wrote the database.
 */
export async function prepareServer(hosts: Hosts, progress: Progress): Promise<string[]> {
  const connections = openConnections(hosts, 1, 'agent-home start', { statementMs: PATIENCE_MS })
  try {
    const warnings = await checkServer(connections.read)
    await connections.transact((ask) => step(ask, progress))
    return warnings
  } finally {
    await connections.close()
  }
}
