/**
 * Invariants of a database at rest, each as the SQL of what violates it, for both engines. What a
 * program has to compute, hashes and JSON, is checked in one pass over the log (contents.ts).
 */
import { fields } from '../../fields.ts'
import { OPERATIONS } from '../port/keeping/memories.ts'
import { PASSKEYS_PER_ACCOUNT } from '../port/passkeys.ts'
import type { Verified, Violation } from '../port/rest.ts'
import {
  ADDRESSES_PER_ACCOUNT,
  SESSIONS_PER_ACCOUNT,
  SIGN_INS_PER_ACCOUNT,
} from '../port/sessions.ts'
import { ask, statement, type Verb } from '../verbs/verb.ts'

/** Checked for all rows. */
export interface Promised {
  /** The message if it does not hold. */
  readonly fault: string
  /** The query for violations: one column that names each. */
  readonly wrong: string
}

/** The log of an engine. */
export interface Log {
  /**
   * Its rows: `agent_id`, `n`, `id` of the event, `event` (null if none), `operation` (null if the
   * row holds no version), `staged` (by an import that has not ended), `key`, `memory_id`,
   * `version`, `previous`, `created_at`, `updated_at`, `size`, `text`, `renamed_from`, `content`,
   * `author` of the version.
   */
  readonly rows: string
  /** Whether its row `l` is the one that the row `of` names as `place`. */
  readonly at: (l: string, of: string, place: string) => string
}

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

const memory = "m.agent_id || ' ' || m.key"

const row = "l.agent_id || ' ' || coalesce(l.key, '') || ' n=' || l.n"

const KEY_CHARACTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-'

const ofMemories = ({ rows, at }: Log): readonly Promised[] => [
  {
    fault: 'a memory does not agree with its newest version',
    wrong: `SELECT ${memory} FROM memories m LEFT JOIN ${rows} l ON ${at('l', 'm', 'n')}
      WHERE NOT m.deleted AND (
        l.n IS NULL OR l.operation IS NULL OR l.operation = 'delete' OR l.text IS NULL
        OR (l.agent_id, l.key, l.memory_id, l.version, l.created_at, l.updated_at, l.size)
          IS DISTINCT FROM (m.agent_id, m.key, m.id, m.version, m.created_at, m.updated_at, m.size))`,
  },
  {
    fault: 'what is left of a deleted memory does not agree with the log',
    wrong: `SELECT ${memory} FROM memories m LEFT JOIN ${rows} l ON ${at('l', 'm', 'n')}
      WHERE m.deleted AND (
        m.deleted NOT IN (false, true) OR m.size <> 0 OR m.pinned OR m.protected
        OR (m.n IS NOT NULL AND (
          l.operation IS DISTINCT FROM 'delete'
          OR (l.agent_id, l.key, l.memory_id, l.version, l.created_at, l.updated_at)
            IS DISTINCT FROM (m.agent_id, m.key, m.id, m.version, m.created_at, m.updated_at))))`,
  },
  {
    fault: 'a key is none that can be written',
    wrong: `SELECT ${memory} FROM memories m
      WHERE length(key) NOT BETWEEN 1 AND 100 OR trim(key, '${KEY_CHARACTERS}') <> ''`,
  },
  {
    fault: 'a memory has a version below 1',
    wrong: `SELECT ${memory} FROM memories m WHERE version < 1`,
  },
]

const CHANGES = OPERATIONS.map((each) => `'${each}'`).join(', ')

/**
 * What the retained events say of each key, `told`, and the last of it, `latest`. A rename also ends
 * its old key, one version above what was there. An import without a text is of a deletion.
 */
export const told = (rows: string): string => `told AS (
    SELECT agent_id, key, id, event, gone, content,
      coalesce(version, 1 + lag(version) OVER (PARTITION BY agent_id, key ORDER BY id)) AS version
    FROM (
      SELECT l.agent_id, l.key, l.id, l.event, l.content, l.version,
        l.event IN ('delete', 'erase') OR (l.event = 'import' AND l.content IS NULL) AS gone
      FROM ${rows} l JOIN homes h ON h.agent_id = l.agent_id AND l.id >= h.first_event
      WHERE l.event IN (${CHANGES}) OR (l.event = 'erase' AND l.version IS NOT NULL)
      UNION ALL
      SELECT l.agent_id, l.renamed_from, l.id, l.event, NULL, NULL, 1 = 1
      FROM ${rows} l JOIN homes h ON h.agent_id = l.agent_id AND l.id >= h.first_event
      WHERE l.event = 'rename' AND l.renamed_from IS NOT NULL
    ) AS each
  ), latest AS (
    SELECT agent_id, key, id, event, gone, content, version FROM (
      SELECT t.*, row_number() OVER (PARTITION BY agent_id, key ORDER BY id DESC) AS place FROM told t
    ) AS numbered WHERE place = 1
  )`

/** Events after which it is known whether a memory is protected, or that it is not known. */
const MARKS = "'protect', 'unprotect', 'delete', 'erase', 'import', 'rename'"

/** Memories that no retained event tells of. */
const untold = ({ rows, at }: Log): string => `
  FROM memories m JOIN homes h ON h.agent_id = m.agent_id
  LEFT JOIN ${rows} l ON ${at('l', 'm', 'n')}
  LEFT JOIN latest t ON t.agent_id = m.agent_id AND t.key = m.key
  WHERE t.key IS NULL`

const ofEvents = (log: Log): readonly Promised[] => [
  {
    // What is left of a deletion may have been dropped, up to the floor.
    fault: 'a memory is not the one that its last event made',
    wrong: `WITH ${told(log.rows)}
      SELECT t.agent_id || ' ' || t.key FROM latest t
      JOIN homes h ON h.agent_id = t.agent_id
      LEFT JOIN memories m ON m.agent_id = t.agent_id AND m.key = t.key
      LEFT JOIN ${log.rows} l ON ${log.at('l', 'm', 'n')}
      WHERE (m.key IS NULL AND (NOT t.gone OR t.version > h.floor))
        OR m.version <> t.version OR m.deleted <> t.gone
        OR (NOT m.deleted AND t.content IS DISTINCT FROM l.content)`,
  },
  {
    // An import brings marks that its events do not tell of, and a rename those of the old key.
    fault: 'a memory is protected and no event says so, or one does and it is not',
    wrong: `WITH marks AS (
        SELECT agent_id, key, id, event = 'protect' AS protects, event IN ('import', 'rename') AS either
        FROM ${log.rows} l
        WHERE event IN (${MARKS}) AND (event <> 'erase' OR version IS NOT NULL)
        UNION ALL
        SELECT agent_id, renamed_from, id, 1 = 0, 1 = 0 FROM ${log.rows} l WHERE event = 'rename'
      ), last AS (
        SELECT agent_id, key, id, protects, either FROM (
          SELECT m.*, row_number() OVER (PARTITION BY agent_id, key ORDER BY id DESC) AS place
          FROM marks m
        ) AS numbered WHERE place = 1
      )
      SELECT ${memory} FROM memories m JOIN homes h ON h.agent_id = m.agent_id
      LEFT JOIN last ON last.agent_id = m.agent_id AND last.key = m.key AND last.id >= h.first_event
      WHERE CASE WHEN last.id IS NULL THEN m.protected AND h.first_event = 1
        WHEN last.either THEN 1 = 0 ELSE m.protected <> last.protects END`,
  },
  {
    fault: 'a memory has no event, and its event cannot have been pruned',
    wrong: `WITH ${told(log.rows)}
      SELECT ${memory} ${untold(log)} AND (h.first_event = 1 OR l.id >= h.first_event)`,
  },
]

const ofVersions = ({ rows, at }: Log): readonly Promised[] => [
  {
    fault: 'a version does not follow on the one before it',
    wrong: `SELECT ${row} FROM ${rows} l JOIN ${rows} p ON ${at('p', 'l', 'previous')}
      WHERE l.operation IS NOT NULL AND p.operation IS NOT NULL
        AND (p.agent_id <> l.agent_id OR p.version >= l.version
          OR (l.event IS NOT NULL AND (p.n >= l.n OR p.id >= l.id)))`,
  },
  {
    fault: 'a version lacks its key, its number, its operation, its memory or its time',
    wrong: `SELECT agent_id || ' n=' || n FROM ${rows} l WHERE operation NOT IN (${CHANGES})
      OR (operation IS NOT NULL AND (key IS NULL OR version IS NULL OR version < 1
        OR memory_id IS NULL OR created_at IS NULL))`,
  },
  {
    // If the one between them was erased, it may have been a deletion.
    fault: 'a version is of another memory than the one before it',
    wrong: `SELECT ${row} FROM ${rows} l JOIN ${rows} p ON ${at('p', 'l', 'previous')}
      WHERE l.operation IS NOT NULL AND p.operation <> 'delete' AND l.version = p.version + 1
        AND (p.event IS NOT NULL OR l.event <> 'import')
        AND (l.memory_id, l.created_at) IS DISTINCT FROM (p.memory_id, p.created_at)`,
  },
  {
    fault: 'a version belongs to two memories, or to one twice',
    wrong: `SELECT agent_id || ' n=' || n FROM (
        SELECT agent_id, previous AS n FROM ${rows} l WHERE operation IS NOT NULL AND NOT staged
        UNION ALL SELECT agent_id, n FROM memories
      ) AS named WHERE n IS NOT NULL GROUP BY agent_id, n HAVING count(*) > 1`,
  },
  {
    fault: 'a version is left out, and nothing in the log tells why',
    wrong: `WITH erasures AS MATERIALIZED (
        SELECT agent_id, max(id) AS last FROM ${rows} l WHERE event = 'erase' GROUP BY agent_id
      )
      SELECT ${row} FROM ${rows} l JOIN ${rows} p ON ${at('p', 'l', 'previous')}
      WHERE l.event NOT IN ('rename', 'import') AND l.operation IS NOT NULL AND p.operation IS NOT NULL
        AND l.version <> p.version + 1
        AND l.id >= (SELECT first_event FROM homes h WHERE h.agent_id = l.agent_id)
        AND l.id >= coalesce((SELECT last FROM erasures e WHERE e.agent_id = l.agent_id), 0)`,
  },
  {
    fault: 'a version belongs to no memory',
    wrong: `SELECT agent_id || ' n=' || n FROM (
        SELECT agent_id, n FROM ${rows} l WHERE operation IS NOT NULL AND NOT staged
        EXCEPT SELECT agent_id, previous FROM ${rows} l WHERE operation IS NOT NULL AND NOT staged
        EXCEPT SELECT agent_id, n FROM memories
      ) AS alone`,
  },
]

const ofOrigins = ({ rows, at }: Log): readonly Promised[] => [
  {
    // If the one between them was erased, it may have been a rename.
    fault: 'a version is under another key than the one before it',
    wrong: `SELECT ${row} FROM ${rows} l JOIN ${rows} p ON ${at('p', 'l', 'previous')}
      WHERE l.operation IS NOT NULL AND p.operation IS NOT NULL AND l.version = p.version + 1
        AND l.event <> 'import'
        AND p.key <> CASE WHEN l.event = 'rename' THEN l.renamed_from ELSE l.key END`,
  },
  {
    fault: 'a memory was not created when its first version was written',
    wrong: `SELECT ${row} FROM ${rows} l JOIN homes h ON h.agent_id = l.agent_id
      LEFT JOIN ${rows} p ON ${at('p', 'l', 'previous')}
      WHERE l.event IN ('write', 'patch', 'append', 'edit') AND l.operation IS NOT NULL
        AND l.id >= h.first_event AND (l.version = 1 OR p.operation = 'delete')
        AND l.created_at <> l.updated_at`,
  },
  {
    // A rollback may keep its versions in rows of their own, with the salted hash of its events.
    fault: 'a version was made by no event, and none can have been pruned',
    wrong: `SELECT l.agent_id || ' ' || l.key FROM (
        SELECT agent_id, key, version, operation, author, content FROM ${rows} l
        WHERE event IS NULL AND operation IS NOT NULL AND NOT staged
        EXCEPT SELECT agent_id, key, version, event, author, content FROM ${rows} l
        WHERE event IS NOT NULL AND operation IS NULL
      ) AS l JOIN homes h ON h.agent_id = l.agent_id
      WHERE h.first_event = 1
        AND l.agent_id NOT IN (SELECT agent_id FROM ${rows} e WHERE event = 'import')`,
  },
  {
    fault: 'a version of an import that has not ended is a memory’s',
    wrong: `SELECT ${row} FROM ${rows} l JOIN ${rows} p ON ${at('p', 'l', 'previous')}
      WHERE l.operation IS NOT NULL AND NOT l.staged AND p.staged
      UNION ALL SELECT ${memory} FROM memories m JOIN ${rows} l ON ${at('l', 'm', 'n')} WHERE l.staged`,
  },
]

const ofLog = ({ rows }: Log): readonly Promised[] => [
  {
    // Rows of an agent that is being erased are left for a moment.
    fault: 'the log tells of an agent that is not there',
    wrong: `SELECT ${row} FROM log l
      WHERE NOT EXISTS (SELECT 1 FROM agents a WHERE a.agent_id = l.agent_id)
        AND l.agent_id NOT IN (SELECT agent_id FROM erased_agents)`,
  },
  {
    fault: 'events of a home are missing, doubled or beyond its last',
    wrong: `SELECT h.agent_id FROM homes h LEFT JOIN (
        SELECT l.agent_id, count(*) AS events, count(DISTINCT l.id) AS ids, max(l.id) AS last
        FROM ${rows} l JOIN homes o ON o.agent_id = l.agent_id
        WHERE l.event IS NOT NULL AND l.id >= o.first_event GROUP BY l.agent_id
      ) e ON e.agent_id = h.agent_id
      WHERE coalesce(e.events, 0) <> h.last_event - h.first_event + 1
        OR coalesce(e.ids, 0) <> coalesce(e.events, 0)
        OR (e.last IS NOT NULL AND e.last <> h.last_event)`,
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
        WHERE operation IS NOT NULL AND NOT staged GROUP BY agent_id
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
  ...ofMemories(log),
  ...ofEvents(log),
  ...ofVersions(log),
  ...ofOrigins(log),
  ...ofLog(log),
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
