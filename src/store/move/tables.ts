/**
 * Every table, and how to read its rows from SQLite: columns are the target's, in its order.
 * Referenced tables come before those that refer to them.
 */
import { markColumns } from '../marks.ts'
import { MARKS } from '../port/memories.ts'
import { joinedWords, storedWords } from '../postgres/engine/words.ts'

type Value = string | number | boolean | Uint8Array | null

export interface Column {
  readonly name: string
  readonly type: 'TEXT' | 'BIGINT' | 'BOOLEAN' | 'BYTEA'
}

export interface Table {
  readonly name: string
  /** One row for each of the target's, its columns in the same order. */
  readonly source: string
  readonly columns: readonly Column[]
  /** A column that the target computes, with its expression. */
  readonly derived?: {
    readonly name: string
    readonly of: (row: readonly Value[]) => string
    readonly stored: (parameter: string) => string
  }
}

const text = (...names: string[]): Column[] => names.map((name) => ({ name, type: 'TEXT' }))
const bigint = (...names: string[]): Column[] => names.map((name) => ({ name, type: 'BIGINT' }))
const boolean = (...names: string[]): Column[] => names.map((name) => ({ name, type: 'BOOLEAN' }))
const bytes = (...names: string[]): Column[] => names.map((name) => ({ name, type: 'BYTEA' }))

/**
 * Positions in the target's log: a version has its event's number. Versions that an import brought
 * before schema 27 are negative, or have an event in a row of its own. alone: events without a version
 * in their row.
 */
const PLACED = `WITH placed AS (
    SELECT n, agent_id,
      CASE row_number() OVER (PARTITION BY agent_id, id ORDER BY version DESC)
        WHEN 1 THEN id ELSE n - 1000000000000 END AS place
    FROM log WHERE operation IS NOT NULL
  ), alone AS (
    SELECT l.* FROM log l JOIN homes h ON h.agent_id = l.agent_id
    WHERE l.event IS NOT NULL AND l.operation IS NULL AND l.id >= h.first_event
  )`

/** Whether the version `l` is as an import brought it; `e`: its event, if that has a row of its own. */
const IS_OTHER = `(l.event_author IS NOT NULL
  OR (e.n IS NOT NULL AND (e.event <> l.operation OR e.author IS NOT l.author
    OR e.updated_at > l.updated_at)))`

export const tables: readonly Table[] = [
  {
    name: 'accounts',
    source: 'SELECT id, email, password_hash, created_at, admin FROM accounts',
    columns: [
      ...text('id', 'email', 'password_hash'),
      ...bigint('created_at'),
      ...boolean('admin'),
    ],
  },
  {
    name: 'agents',
    source: `SELECT agent_id, name, purpose, symbol, status, account_id, created_at, updated_at, rotated
     FROM agents`,
    columns: [
      ...text('agent_id', 'name', 'purpose', 'symbol', 'status', 'account_id'),
      ...bigint('created_at', 'updated_at'),
      ...boolean('rotated'),
    ],
  },
  {
    name: 'credentials',
    source: `SELECT c.agent_id, c.token_hash, c.kind,
       c.status,
       c.key_id, c.name, c.access, c.prefix, c.client_id, c.redirect_host, c.audience,
       c.expires_at, c.created_at, c.last_used_at, c.granted_until,
       c.woke_at, c.woke_event
     FROM credentials c`,
    columns: [
      ...text('agent_id', 'token_hash', 'kind', 'status', 'key_id', 'name', 'access', 'prefix'),
      ...text('client_id', 'redirect_host', 'audience'),
      ...bigint('expires_at', 'created_at', 'last_used_at', 'granted_until'),
      ...bigint('woke_at', 'woke_event'),
    ],
  },
  {
    name: 'operator_replacements',
    source: 'SELECT agent_id, key_hash, salt, replaced_hash FROM operator_replacements',
    columns: text('agent_id', 'key_hash', 'salt', 'replaced_hash'),
  },
  {
    name: 'erased_births',
    source: 'SELECT born_from, created_at FROM erased_births',
    columns: [...text('born_from'), ...bigint('created_at')],
  },
  {
    name: 'births',
    source: 'SELECT key_hash, agent_id, fingerprint, salt, born_from, created_at FROM births',
    columns: [
      ...text('key_hash', 'agent_id', 'fingerprint', 'salt', 'born_from'),
      ...bigint('created_at'),
    ],
  },
  {
    name: 'memories',
    source: `${PLACED}
     SELECT m.agent_id, m.key, m.id, m.version, m.created_at, m.updated_at, m.size, p.place,
       m.deleted, m.pinned, ${markColumns('m')}
     FROM memories m LEFT JOIN placed p ON p.n = m.n`,
    columns: [
      ...text('agent_id', 'key', 'id'),
      ...bigint('version', 'created_at', 'updated_at', 'size', 'n'),
      ...boolean('deleted', 'pinned', ...MARKS),
    ],
  },
  {
    name: 'vectors',
    source: 'SELECT agent_id, key, model, version, n, vector FROM vectors',
    columns: [...text('agent_id', 'key', 'model'), ...bigint('version', 'n'), ...bytes('vector')],
  },
  {
    name: 'log',
    source: `${PLACED}
     SELECT l.agent_id, l.key, l.renamed_from, l.memory_id, l.operation, l.author,
       CASE WHEN ${IS_OTHER} THEN coalesce(e.event, l.event) END,
       CASE WHEN ${IS_OTHER} THEN coalesce(e.author, l.event_author) END,
       l.metadata, l.text, l.made_as, p.place, o.place, l.version, l.created_at, l.updated_at,
       coalesce(nullif(e.updated_at, l.updated_at), l.happened_at), coalesce(l.bytes, 0),
       coalesce(l.size, 0), 1, coalesce(e.hash, l.hash), l.content, l.salt
     FROM placed p JOIN log l ON l.n = p.n LEFT JOIN placed o ON o.n = l.previous
     LEFT JOIN alone e ON e.agent_id = p.agent_id AND e.id = p.place
     UNION ALL
     SELECT e.agent_id, e.key, e.renamed_from, NULL, e.event, coalesce(e.event_author, e.author), NULL,
       NULL, NULL, NULL, NULL, e.id, NULL, e.version, NULL, coalesce(e.happened_at, e.updated_at), NULL,
       0, 0, 0, e.hash, e.content, NULL
     FROM alone e LEFT JOIN placed p ON p.agent_id = e.agent_id AND p.place = e.id
     WHERE p.n IS NULL`,
    columns: [
      ...text('agent_id', 'key', 'renamed_from', 'memory_id', 'operation', 'author', 'event'),
      ...text('event_author', 'metadata', 'text', 'made_as'),
      ...bigint('n', 'previous', 'version', 'created_at', 'updated_at', 'happened_at'),
      ...bigint('bytes', 'size'),
      ...boolean('kept'),
      ...bytes('hash', 'content', 'salt'),
    ],
  },
  {
    name: 'homes',
    source: `SELECT agent_id, memories, bytes, history, deleted, floor, last_event, first_event,
       vectors, last_vector, head, base FROM homes`,
    columns: [
      ...text('agent_id'),
      ...bigint('memories', 'bytes', 'history', 'deleted', 'floor', 'last_event', 'first_event'),
      ...bigint('vectors', 'last_vector'),
      ...bytes('head', 'base'),
    ],
  },
  {
    // No node holds it: the next to start takes it over.
    name: 'unfinished',
    source: "SELECT agent_id, event, rollback, '', 0 FROM unfinished",
    columns: [
      ...text('agent_id'),
      ...bigint('event'),
      ...text('rollback', 'holder'),
      ...bigint('held_until'),
    ],
  },
  {
    name: 'keyed_appends',
    source: 'SELECT agent_id, key_hash, fingerprint, answer, event, made_at FROM keyed_appends',
    columns: [
      ...text('agent_id', 'key_hash', 'fingerprint', 'answer'),
      ...bigint('event', 'made_at'),
    ],
  },
  {
    name: 'daily_writes',
    source: `SELECT agent_id, day, sum(writes) FROM (
       SELECT agent_id, day, writes FROM daily_writes
       UNION ALL SELECT agent_id, day, day_writes FROM homes WHERE day_writes > 0
     ) GROUP BY agent_id, day`,
    columns: [...text('agent_id'), ...bigint('day', 'writes')],
  },
  {
    name: 'daily_calls',
    source: 'SELECT agent_id, day, reads, conflicts, refusals, seen_at FROM daily_calls',
    columns: [...text('agent_id'), ...bigint('day', 'reads', 'conflicts', 'refusals', 'seen_at')],
  },
  {
    name: 'sessions',
    source: `SELECT token_hash, id, account_id, user_agent, place, created_at, seen_at, expires_at,
       confirmed_at, turn FROM sessions`,
    columns: [
      ...text('token_hash', 'id', 'account_id', 'user_agent', 'place'),
      ...bigint('created_at', 'seen_at', 'expires_at', 'confirmed_at', 'turn'),
    ],
  },
  {
    name: 'passkeys',
    source: `SELECT id, account_id, public_key, site, transports, user_agent, counter, created_at,
       used_at FROM passkeys`,
    columns: [
      ...text('id', 'account_id', 'public_key', 'site', 'transports', 'user_agent'),
      ...bigint('counter', 'created_at', 'used_at'),
    ],
  },
  {
    name: 'spent_challenges',
    source: 'SELECT hash, expires_at FROM spent_challenges',
    columns: [...text('hash'), ...bigint('expires_at')],
  },
  {
    name: 'shared_secrets',
    source: 'SELECT name, secret FROM shared_secrets',
    columns: text('name', 'secret'),
  },
  {
    name: 'oauth_records',
    source: `SELECT id_hash, kind, agent_id, key_id, payload, consumed_at, expires_at
     FROM oauth_records`,
    columns: [
      ...text('id_hash', 'kind', 'agent_id', 'key_id', 'payload'),
      ...bigint('consumed_at', 'expires_at'),
    ],
  },
  {
    name: 'account_recoveries',
    source: 'SELECT account_id, secret_hash, expires_at FROM account_recoveries',
    columns: [...text('account_id', 'secret_hash'), ...bigint('expires_at')],
  },
  {
    name: 'sign_ins',
    source: 'SELECT id, account_id, user_agent, place, signed_in_at FROM sign_ins',
    columns: [...text('id', 'account_id', 'user_agent', 'place'), ...bigint('signed_in_at')],
  },
  {
    name: 'sign_in_addresses',
    source: 'SELECT address_hash, account_id, seen_at FROM sign_in_addresses',
    columns: [...text('address_hash', 'account_id'), ...bigint('seen_at')],
  },
  {
    name: 'entries',
    source: `SELECT id, feed, room, identity, identity_type, details, text, created_at, bytes
     FROM entries`,
    columns: [
      ...text('id', 'feed', 'room', 'identity', 'identity_type', 'details', 'text'),
      ...bigint('created_at', 'bytes'),
    ],
    derived: {
      name: 'words',
      of: (row) => joinedWords(String(row[6])),
      stored: storedWords,
    },
  },
  {
    name: 'entry_labels',
    source: `SELECT l.feed, l.label, e.id FROM entry_labels l JOIN entries e ON e.n = l.n`,
    columns: text('feed', 'label', 'id'),
  },
  {
    name: 'room_counts',
    source: 'SELECT feed, room, entries, bytes FROM room_counts',
    columns: [...text('feed', 'room'), ...bigint('entries', 'bytes')],
  },
]

/** SQLite tables without data of their own. */
export const holdsNothing =
  /^(schema_version|heartbeat|gates|entry_words(_.*)?|sqlite_.*|log_index|erased_agents)$/
