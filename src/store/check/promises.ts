/**
 * Invariants of a database at rest, each as the SQL of what violates it, for both engines. What a
 * program has to compute, hashes and JSON, is checked in one pass over the log (contents.ts).
 */
import { fields } from '../../fields.ts'
import type { Verified, Violation } from '../port/check.ts'
import { PASSKEYS_PER_ACCOUNT } from '../port/passkeys.ts'
import {
  ADDRESSES_PER_ACCOUNT,
  SESSIONS_PER_ACCOUNT,
  SIGN_INS_PER_ACCOUNT,
} from '../port/sessions.ts'
import { ask, statement, type Verb } from '../verbs/verb.ts'
import { type Log, type Promised, promisedOfLog, told, untold } from './log-promises.ts'

const notHex = (column: string): string =>
  `(length(${column}) <> 64 OR trim(${column}, '0123456789abcdef') <> '')`

const tokensOf = (kind: 'agent' | 'operator'): string =>
  `(SELECT count(*) FROM credentials c
    WHERE c.agent_id = a.agent_id AND c.kind = '${kind}' AND c.key_id IS NULL)`

const ofAgents: readonly Promised[] = [
  {
    fault: 'an agent has not exactly one agent token and one operator token',
    wrong: `SELECT a.agent_id FROM agents a WHERE ${tokensOf('agent')} <> 1 OR ${tokensOf('operator')} <> 1`,
  },
  {
    fault: 'an agent has no home',
    wrong: `SELECT agent_id FROM agents a
      WHERE NOT EXISTS (SELECT 1 FROM homes h WHERE h.agent_id = a.agent_id)`,
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
    // `_` is any character: a dollar sign would be a parameter.
    fault: 'a password is not stored as argon2id',
    wrong: "SELECT id FROM accounts WHERE password_hash NOT LIKE '_argon2id_v=19_m=%,t=%,p=%_%_%'",
  },
  {
    fault: 'an account has more sessions, sign-ins, passkeys or addresses than are kept',
    wrong: `SELECT account_id FROM sessions
        GROUP BY account_id HAVING count(*) > ${SESSIONS_PER_ACCOUNT}
      UNION ALL SELECT account_id FROM sign_ins
        GROUP BY account_id HAVING count(*) > ${SIGN_INS_PER_ACCOUNT}
      UNION ALL SELECT account_id FROM passkeys
        GROUP BY account_id HAVING count(*) > ${PASSKEYS_PER_ACCOUNT}
      UNION ALL SELECT account_id FROM sign_in_addresses
        GROUP BY account_id HAVING count(*) > ${ADDRESSES_PER_ACCOUNT}`,
  },
]

const ofVectors: readonly Promised[] = [
  {
    fault: 'a vector is of no current text, or is none',
    wrong: `SELECT v.agent_id || ' ' || v.key FROM vectors v
      LEFT JOIN memories m ON m.agent_id = v.agent_id AND m.key = v.key AND NOT m.deleted
      WHERE v.version IS DISTINCT FROM m.version
        OR octet_length(v.vector) NOT BETWEEN 1 AND ${4 * fields.vector.maxNumbers}
        OR octet_length(v.vector) % 4 <> 0`,
  },
]

const ofHomes = ({ rows }: Log): readonly Promised[] => [
  {
    fault: 'a home’s counts of memories differ from what is there',
    wrong: `SELECT h.agent_id FROM homes h LEFT JOIN (
        SELECT agent_id, count(CASE WHEN NOT deleted THEN 1 END) AS living,
          count(CASE WHEN deleted THEN 1 END) AS deleted,
          sum(CASE WHEN NOT deleted THEN size END) AS bytes FROM memories GROUP BY agent_id
      ) m ON m.agent_id = h.agent_id
      WHERE h.memories <> coalesce(m.living, 0) OR h.deleted <> coalesce(m.deleted, 0)
        OR h.bytes <> coalesce(m.bytes, 0)`,
  },
  {
    fault: 'a home’s bytes of earlier versions differ from what is kept of them',
    wrong: `SELECT h.agent_id FROM homes h LEFT JOIN (
        SELECT agent_id, sum(size) AS size FROM ${rows} l
        WHERE operation IS NOT NULL GROUP BY agent_id
      ) v ON v.agent_id = h.agent_id
      WHERE h.bytes + h.history <> coalesce(v.size, 0)`,
  },
  {
    fault: 'a home’s count of vectors differs from what is there',
    wrong: `SELECT h.agent_id FROM homes h LEFT JOIN (
        SELECT agent_id, sum(octet_length(vector)) AS bytes, max(n) AS last FROM vectors
        GROUP BY agent_id
      ) v ON v.agent_id = h.agent_id
      WHERE h.vectors <> coalesce(v.bytes, 0) OR h.last_vector < coalesce(v.last, 0)`,
  },
]

const ofRooms: readonly Promised[] = [
  {
    fault: 'a room’s counts differ from its entries',
    wrong: `SELECT coalesce(c.feed, e.feed) || ' ' || coalesce(c.room, e.room) FROM room_counts c
      FULL JOIN (
        SELECT feed, room, count(*) AS entries, sum(bytes) AS bytes FROM entries GROUP BY feed, room
      ) e ON e.feed = c.feed AND e.room = c.room
      WHERE coalesce(c.entries, 0) <> coalesce(e.entries, 0)
        OR coalesce(c.bytes, 0) <> coalesce(e.bytes, 0)`,
  },
]

/** Those that both engines keep. */
export const promisedOf = (log: Log): readonly Promised[] => [
  ...ofAgents,
  ...promisedOfLog(log),
  ...ofVectors,
  ...ofHomes(log),
  ...ofRooms,
]

/** Places listed per violation. */
export const NAMED = 5

export function faultOf(fault: string, places: Iterable<string>): readonly Violation[] {
  const named: string[] = []
  let count = 0
  for (const place of places) {
    if (count++ < NAMED) named.push(place)
  }
  return count > 0 ? [{ fault, count, places: named }] : []
}

/** Counted where the rows are, so that any number of violations takes no memory here. */
export function* violationsOf({ fault, wrong }: Promised): Verb<readonly Violation[]> {
  const found = yield* ask(
    statement<{ place: string; count: number }>(
      `WITH wrong (place) AS (${wrong})
       SELECT CAST(place AS TEXT) AS place, count(*) OVER () AS count FROM wrong LIMIT ${NAMED}`,
    ),
  )
  const [first] = found
  return first ? [{ fault, count: first.count, places: found.map(({ place }) => place) }] : []
}

function* countOf(query: string): Verb<number> {
  const [found] = yield* ask(statement<{ count: number }>(query))
  return found?.count ?? 0
}

/** Rows by kind. */
export function* countsOf({ rows }: Log): Verb<Verified['counts']> {
  const counted: Readonly<Record<string, string>> = {
    accounts: 'accounts',
    agents: 'agents',
    memories: 'memories WHERE NOT deleted',
    versions: `${rows} l WHERE operation IS NOT NULL`,
    // Rows of a version outlive their event, and are counted as versions.
    events: `${rows} l JOIN homes h ON h.agent_id = l.agent_id AND l.id >= h.first_event
      WHERE event IS NOT NULL`,
    entries: 'entries',
  }
  const counts: Record<string, number> = {}
  for (const [name, from] of Object.entries(counted)) {
    counts[name] = yield* countOf(`SELECT count(*) AS count FROM ${from}`)
  }
  return counts
}

/** Of the memories: those that no retained event tells of. */
export const unprovenIn = (log: Log): Verb<number> =>
  countOf(`WITH ${told(log.rows)} SELECT count(*) AS count ${untold(log)} AND NOT m.deleted`)
