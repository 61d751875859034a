/** Forward-only steps of the schema. Append; never edit a step that was released. */
import type { DatabaseSync } from 'node:sqlite'
import { StoreRefused } from '../../port/errors.ts'
import type { Progress } from '../../port/store.ts'
import { transact } from '../engine/connection.ts'
import { addPasskeys } from './added-passkeys.ts'
import { countErasures } from './counted-erasures.ts'
import { addDailyCalls } from './daily-calls.ts'
import { eraseInSlices } from './erased-agents.ts'
import { beginHistory } from './history.ts'
import { knowSessions } from './known-sessions.ts'
import { addRecoveries } from './lost-passwords.ts'
import { addNamedKeys } from './named-keys.ts'
import { knowRuns } from './unbroken-runs.ts'
import { writeImportsAhead } from './written-ahead.ts'

const steps: readonly (string | ((db: DatabaseSync, progress: Progress) => void))[] = [
  `CREATE TABLE accounts (
     id TEXT PRIMARY KEY,
     email TEXT NOT NULL UNIQUE,
     password_hash TEXT NOT NULL,
     created_at INTEGER NOT NULL
   ) STRICT;

   CREATE TABLE agents (
     id TEXT PRIMARY KEY,
     name TEXT NOT NULL,
     purpose TEXT NOT NULL,
     symbol TEXT NOT NULL,
     status TEXT NOT NULL CHECK (status IN ('active', 'paused')),
     memory_count INTEGER NOT NULL DEFAULT 0,
     account_id TEXT REFERENCES accounts (id),
     birth_key_hash TEXT NOT NULL UNIQUE,
     birth_fingerprint TEXT NOT NULL,
     birth_salt TEXT NOT NULL,
     rotated INTEGER NOT NULL DEFAULT 0,
     born_from TEXT,
     created_at INTEGER NOT NULL,
     updated_at INTEGER NOT NULL
   ) STRICT;
   CREATE INDEX agents_by_birth ON agents (created_at);
   CREATE INDEX agents_by_address ON agents (born_from, created_at) WHERE born_from IS NOT NULL;
   CREATE INDEX agents_by_account ON agents (account_id) WHERE account_id IS NOT NULL;

   CREATE TABLE credentials (
     token_hash TEXT PRIMARY KEY,
     agent_id TEXT NOT NULL REFERENCES agents (id),
     kind TEXT NOT NULL CHECK (kind IN ('agent', 'operator'))
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX credentials_by_agent ON credentials (agent_id, kind);

   CREATE TABLE memories (
     agent_id TEXT NOT NULL REFERENCES agents (id),
     key TEXT NOT NULL,
     id TEXT NOT NULL,
     text TEXT NOT NULL,
     metadata TEXT NOT NULL,
     version INTEGER NOT NULL,
     created_at INTEGER NOT NULL,
     updated_at INTEGER NOT NULL,
     PRIMARY KEY (agent_id, key)
   ) STRICT;

   CREATE TABLE heartbeat (
     id INTEGER PRIMARY KEY CHECK (id = 1),
     written_at INTEGER NOT NULL
   ) STRICT;`,

  `CREATE TABLE sessions (
     token_hash TEXT PRIMARY KEY,
     id TEXT NOT NULL UNIQUE,
     account_id TEXT NOT NULL REFERENCES accounts (id),
     user_agent TEXT NOT NULL,
     created_at INTEGER NOT NULL,
     seen_at INTEGER NOT NULL,
     expires_at INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX sessions_by_account ON sessions (account_id);
   CREATE INDEX sessions_by_expiry ON sessions (expires_at);

   CREATE TABLE daily_writes (
     agent_id TEXT NOT NULL REFERENCES agents (id),
     day INTEGER NOT NULL,
     writes INTEGER NOT NULL,
     PRIMARY KEY (agent_id, day)
   ) STRICT, WITHOUT ROWID;`,

  `CREATE TABLE entries (
     n INTEGER PRIMARY KEY,
     id TEXT NOT NULL UNIQUE,
     feed TEXT NOT NULL,
     room TEXT NOT NULL,
     identity TEXT NOT NULL,
     identity_type TEXT NOT NULL,
     details TEXT NOT NULL,
     labels TEXT NOT NULL,
     created_at INTEGER NOT NULL,
     text TEXT NOT NULL
   ) STRICT;
   CREATE INDEX entries_by_feed ON entries (feed, n);
   CREATE INDEX entries_by_room ON entries (room, n);

   CREATE TABLE entry_labels (
     feed TEXT NOT NULL,
     label TEXT NOT NULL,
     n INTEGER NOT NULL,
     PRIMARY KEY (feed, label, n)
   ) STRICT, WITHOUT ROWID;

   CREATE TABLE room_counts (
     feed TEXT NOT NULL,
     room TEXT NOT NULL,
     entries INTEGER NOT NULL,
     PRIMARY KEY (feed, room)
   ) STRICT, WITHOUT ROWID;

   CREATE VIRTUAL TABLE entry_words USING fts5 (text, content = '', contentless_delete = 1);

   CREATE TRIGGER entry_left AFTER INSERT ON entries BEGIN
     INSERT INTO entry_labels SELECT new.feed, value, new.n FROM json_each(new.labels);
     INSERT INTO entry_words (rowid, text) SELECT new.n, new.text WHERE new.text <> '';
     INSERT INTO room_counts VALUES (new.feed, new.room, 1)
       ON CONFLICT (feed, room) DO UPDATE SET entries = entries + 1;
   END;
   CREATE TRIGGER entry_composted AFTER DELETE ON entries BEGIN
     DELETE FROM entry_labels WHERE feed = old.feed AND n = old.n
       AND label IN (SELECT value FROM json_each(old.labels));
     DELETE FROM entry_words WHERE rowid = old.n AND old.text <> '';
     UPDATE room_counts SET entries = entries - 1 WHERE feed = old.feed AND room = old.room;
   END;`,

  // Labels, words and counts of what arrived are now filed once for each commit; each of those is a
  // segment of the words, so more of them are merged at once.
  `DROP TRIGGER entry_left;
   INSERT INTO entry_words (entry_words, rank) VALUES ('automerge', 16);`,

  `CREATE TABLE sign_in_addresses (
     address_hash TEXT PRIMARY KEY,
     account_id TEXT NOT NULL REFERENCES accounts (id),
     seen_at INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX sign_in_addresses_by_account ON sign_in_addresses (account_id, seen_at);`,
  // Feeds are bounded by bytes too. Entries from before have every word of theirs in the index.
  `ALTER TABLE entries ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
   UPDATE entries SET bytes = 512 + 2 * octet_length(text) + octet_length(details)
     + octet_length(identity) + 3 * octet_length(labels);
   ALTER TABLE room_counts ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
   UPDATE room_counts SET bytes = (
     SELECT coalesce(sum(e.bytes), 0) FROM entries e
     WHERE e.feed = room_counts.feed AND e.room = room_counts.room
   );
   DROP INDEX entries_by_feed;
   CREATE INDEX entries_by_feed ON entries (feed, n, bytes);
   DROP TRIGGER entry_composted;
   CREATE TRIGGER entry_composted AFTER DELETE ON entries BEGIN
     DELETE FROM entry_labels WHERE feed = old.feed AND n = old.n
       AND label IN (SELECT value FROM json_each(old.labels));
     DELETE FROM entry_words WHERE rowid = old.n AND old.text <> '';
     UPDATE room_counts SET entries = entries - 1, bytes = bytes - old.bytes
       WHERE feed = old.feed AND room = old.room;
   END;`,

  beginHistory,
  addNamedKeys,
  writeImportsAhead,
  addRecoveries,
  addDailyCalls,
  knowSessions,
  eraseInSlices,
  addPasskeys,
  knowRuns,
  countErasures,

  // The names and columns that the other engine has.
  `ALTER TABLE agents RENAME COLUMN id TO agent_id;
   ALTER TABLE homes RENAME COLUMN writes TO day_writes;
   ALTER TABLE credentials ADD COLUMN status TEXT NOT NULL DEFAULT 'active'
     CHECK (status IN ('active', 'paused'));
   UPDATE credentials SET status = 'paused'
     WHERE kind = 'agent' AND agent_id IN (SELECT agent_id FROM agents WHERE status = 'paused');`,
]

/** The version of the schema that this program has. */
export const SCHEMA = steps.length

const versionOf = (db: DatabaseSync): number =>
  Number(Object.values(db.prepare('PRAGMA user_version').get() ?? {})[0])

function step(db: DatabaseSync, path: string, progress: Progress): void {
  const version = versionOf(db)
  if (version > SCHEMA) {
    throw new StoreRefused(
      `${path} has schema ${version}, and this program knows ${SCHEMA}. Run the newer program that wrote it.`,
    )
  }
  for (const next of steps.slice(version)) {
    if (typeof next === 'string') db.exec(next)
    else next(db, progress)
  }
  db.exec(`PRAGMA user_version = ${SCHEMA}`)
}

/**
 * Answers how many memories there are, if they were gone through: 0 otherwise. All is done then, but
 * in the log. Throws StoreRefused when the database was written by a newer program.
 */
export function migrate(db: DatabaseSync, path: string, progress: Progress = () => {}): number {
  let [done, total] = [0, 0]
  const tell: Progress = (...told) => {
    ;[done, total] = told
    progress(...told)
  }
  transact(db, () => {
    step(db, path, tell)
    if (total > 0) progress(done, total, true)
  })
  return total
}
