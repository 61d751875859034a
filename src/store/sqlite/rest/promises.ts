/** Invariants within one table: agents, accounts, and gateway entries. */
import { PASSKEYS_PER_ACCOUNT } from '../../port/passkeys.ts'
import { ADDRESSES_PER_ACCOUNT, SESSIONS_PER_ACCOUNT } from '../../port/sessions.ts'

/** Checked for all rows. */
export interface Promised {
  /** The message if it does not hold. */
  readonly fault: string
  /** The query for violations: one column that names each. */
  readonly wrong: string
}

const notHex = (column: string): string =>
  `(length(${column}) <> 64 OR ${column} GLOB '*[^0-9a-f]*')`

const tokensOf = (kind: 'agent' | 'operator'): string =>
  `(SELECT count(*) FROM credentials c
    WHERE c.agent_id = a.agent_id AND c.kind = '${kind}' AND c.key_id IS NULL)`

export const ofAgents: readonly Promised[] = [
  {
    fault: 'an agent has not exactly one agent token and one operator token',
    wrong: `SELECT a.agent_id FROM agents a WHERE ${tokensOf('agent')} <> 1 OR ${tokensOf('operator')} <> 1`,
  },
  {
    fault: 'an agent has no home',
    wrong: 'SELECT agent_id FROM agents WHERE agent_id NOT IN (SELECT agent_id FROM homes)',
  },
  {
    fault: 'what is stored of a token is no SHA-256',
    wrong: `SELECT agent_id FROM credentials WHERE ${notHex('token_hash')}
      UNION ALL SELECT agent_id FROM births WHERE ${notHex('key_hash')}
      UNION ALL SELECT id FROM sessions WHERE ${notHex('token_hash')}
      UNION ALL SELECT account_id FROM account_recoveries WHERE ${notHex('secret_hash')}
      UNION ALL SELECT hash FROM spent_challenges WHERE ${notHex('hash')}
      UNION ALL SELECT agent_id FROM operator_replacements
        WHERE ${notHex('key_hash')} OR ${notHex('replaced_hash')}`,
  },
  {
    fault: 'a named key lacks its name or its bounds',
    wrong: `SELECT agent_id || ' ' || coalesce(key_id, '') FROM credentials
      WHERE (key_id IS NULL) <> (name IS NULL) OR (key_id IS NULL) <> (access IS NULL)
        OR (key_id IS NULL) <> (prefix IS NULL) OR (key_id IS NOT NULL AND kind <> 'agent')`,
  },
  {
    fault: 'a password is not stored as argon2id',
    wrong: "SELECT id FROM accounts WHERE password_hash NOT GLOB '$argon2id$v=19$m=*,t=*,p=*$*$*'",
  },
  {
    fault: 'an account has more sessions, passkeys or addresses than are kept',
    wrong: `SELECT account_id FROM sessions
        GROUP BY account_id HAVING count(*) > ${SESSIONS_PER_ACCOUNT}
      UNION ALL SELECT account_id FROM passkeys
        GROUP BY account_id HAVING count(*) > ${PASSKEYS_PER_ACCOUNT}
      UNION ALL SELECT account_id FROM sign_in_addresses
        GROUP BY account_id HAVING count(*) > ${ADDRESSES_PER_ACCOUNT}`,
  },
]

export const ofEntries: readonly Promised[] = [
  {
    fault: 'the gateway’s entries are not in the order of their ids',
    wrong: `SELECT id FROM (SELECT id, lag(id) OVER (ORDER BY n) AS before FROM entries)
      WHERE before >= id`,
  },
  {
    fault: 'a room’s counts differ from its entries',
    wrong: `SELECT coalesce(c.feed, e.feed) || ' ' || coalesce(c.room, e.room) FROM room_counts c
      FULL JOIN (
        SELECT feed, room, count(*) AS entries, sum(bytes) AS bytes FROM entries GROUP BY feed, room
      ) e ON e.feed = c.feed AND e.room = c.room
      WHERE coalesce(c.entries, 0) <> coalesce(e.entries, 0)
        OR coalesce(c.bytes, 0) <> coalesce(e.bytes, 0)`,
  },
  {
    fault: 'an entry is filed under a label that it does not bear, or not under one that it does',
    wrong: `SELECT n || ' ' || label FROM entry_labels l WHERE NOT EXISTS (
        SELECT 1 FROM entries e, json_each(e.labels) WHERE e.n = l.n AND e.feed = l.feed
          AND value = l.label)
      UNION ALL
      SELECT e.id FROM entries e, json_each(e.labels) WHERE NOT EXISTS (
        SELECT 1 FROM entry_labels l WHERE l.feed = e.feed AND l.label = value AND l.n = e.n)`,
  },
  {
    fault: 'an entry with a text is not in the index of words, or one is that is not there',
    wrong: `SELECT id FROM entries WHERE text <> '' AND n NOT IN (SELECT id FROM entry_words_docsize)
      UNION ALL SELECT d.id FROM entry_words_docsize d
        WHERE d.id NOT IN (SELECT n FROM entries WHERE text <> '')`,
  },
]
