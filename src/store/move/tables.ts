/**
 * Every table, and how its rows read on the embedded engine: the columns are the target's, in its
 * order. A table that is referred to stands before those that refer to it.
 */
import { joinedWords, storedWords } from '../postgres/engine/words.ts'

type Value = string | number | boolean | null

export interface Column {
  readonly name: string
  readonly type: 'TEXT' | 'BIGINT' | 'BOOLEAN'
}

export interface Table {
  readonly name: string
  /** One row for each of the target's, its columns in the same order. */
  readonly source: string
  readonly columns: readonly Column[]
  /** A column that the target derives from a row, with the expression that stores it. */
  readonly derived?: {
    readonly name: string
    readonly of: (row: readonly Value[]) => string
    readonly stored: (parameter: string) => string
  }
}

const text = (...names: string[]): Column[] => names.map((name) => ({ name, type: 'TEXT' }))
const bigint = (...names: string[]): Column[] => names.map((name) => ({ name, type: 'BIGINT' }))
const boolean = (...names: string[]): Column[] => names.map((name) => ({ name, type: 'BOOLEAN' }))

export const tables: readonly Table[] = [
  {
    name: 'accounts',
    source: 'SELECT id, email, password_hash, created_at FROM accounts',
    columns: [...text('id', 'email', 'password_hash'), ...bigint('created_at')],
  },
  {
    name: 'agents',
    source: `SELECT id, name, purpose, symbol, status, account_id, created_at, updated_at, rotated
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
       CASE c.kind WHEN 'agent' THEN a.status ELSE 'active' END,
       c.key_id, c.name, c.access, c.prefix, c.expires_at, c.created_at, c.last_used_at
     FROM credentials c JOIN agents a ON a.id = c.agent_id`,
    columns: [
      ...text('agent_id', 'token_hash', 'kind', 'status', 'key_id', 'name', 'access', 'prefix'),
      ...bigint('expires_at', 'created_at', 'last_used_at'),
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
    source: `SELECT birth_key_hash, id, birth_fingerprint, birth_salt, born_from, created_at
     FROM agents`,
    columns: [
      ...text('key_hash', 'agent_id', 'fingerprint', 'salt', 'born_from'),
      ...bigint('created_at'),
    ],
  },
  {
    name: 'memories',
    source: `SELECT agent_id, key, id, version, created_at, updated_at, size, deleted, pinned
     FROM memories`,
    columns: [
      ...text('agent_id', 'key', 'id'),
      ...bigint('version', 'created_at', 'updated_at', 'size'),
      ...boolean('deleted', 'pinned'),
    ],
  },
  {
    name: 'versions',
    // Each names the one before it: all that the memory leads to lies under its present key.
    source: `WITH RECURSIVE kept (n, key) AS (
       SELECT n, key FROM memories WHERE n IS NOT NULL
       UNION ALL
       SELECT v.previous, k.key FROM kept k JOIN versions v ON v.n = k.n
       WHERE v.previous IS NOT NULL
     )
     SELECT v.agent_id, k.key, v.operation, v.author, v.id, v.metadata, v.text, v.version, v.seq,
       v.created_at, v.updated_at, v.bytes, v.size
     FROM kept k JOIN versions v ON v.n = k.n`,
    columns: [
      ...text('agent_id', 'key', 'operation', 'author', 'id', 'metadata', 'text'),
      ...bigint('version', 'seq', 'created_at', 'updated_at', 'bytes', 'size'),
    ],
  },
  {
    name: 'homes',
    source: 'SELECT agent_id, memories, bytes, history, last_event FROM homes',
    columns: [...text('agent_id'), ...bigint('memories', 'bytes', 'history', 'last_event')],
  },
  {
    name: 'events',
    source: `SELECT agent_id, type, key, renamed_from, author, id, version, created_at
     FROM events`,
    columns: [
      ...text('agent_id', 'type', 'key', 'renamed_from', 'author'),
      ...bigint('id', 'version', 'created_at'),
    ],
  },
  {
    name: 'daily_writes',
    source: 'SELECT agent_id, day, writes FROM daily_writes',
    columns: [...text('agent_id'), ...bigint('day', 'writes')],
  },
  {
    name: 'sessions',
    source: `SELECT token_hash, id, account_id, user_agent, created_at, seen_at, expires_at
     FROM sessions`,
    columns: [
      ...text('token_hash', 'id', 'account_id', 'user_agent'),
      ...bigint('created_at', 'seen_at', 'expires_at'),
    ],
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

/** Tables of the embedded engine that hold nothing of their own. */
export const holdsNothing = /^(heartbeat|entry_words(_.*)?|sqlite_.*)$/
