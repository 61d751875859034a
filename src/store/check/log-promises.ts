/**
 * Invariants of the memories and the log of a database at rest, each as the SQL of what violates it, for
 * both engines.
 */
import { OPERATIONS } from '../port/memories.ts'

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
   * row holds no version), `key`, `memory_id`, `version`, `previous`, `created_at`, `updated_at`,
   * `size`, `text`, `renamed_from`, `content`, `author` of the version. Of a version that an import
   * brought as it was: `event_author`, which no other has, its event's time `happened_at` if that is not
   * `updated_at`, and the key that it was made under, `made_as`, if that was another.
   */
  readonly rows: string
  /** Whether its row `l` is the one that the row `of` names as `place`. */
  readonly at: (l: string, of: string, place: string) => string
}

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
export const untold = ({ rows, at }: Log): string => `
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

/**
 * Whether a row follows on `p` as this program wrote it: what an import brought as it was may say
 * anything, and so may what was below zero before schema 27.
 */
const IS_OURS = "(l.event_author IS NULL AND (l.event <> 'import' OR p.event IS NOT NULL))"

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
        AND ${IS_OURS}
        AND (l.memory_id, l.created_at) IS DISTINCT FROM (p.memory_id, p.created_at)`,
  },
  {
    fault: 'a version belongs to two memories, or to one twice',
    wrong: `SELECT agent_id || ' n=' || n FROM (
        SELECT agent_id, previous AS n FROM ${rows} l WHERE operation IS NOT NULL
        UNION ALL SELECT agent_id, n FROM memories
      ) AS named WHERE n IS NOT NULL GROUP BY agent_id, n HAVING count(*) > 1`,
  },
  {
    fault: 'a version is left out, and nothing in the log tells why',
    wrong: `WITH erasures AS MATERIALIZED (
        SELECT agent_id, max(id) AS last FROM ${rows} l WHERE event = 'erase' GROUP BY agent_id
      )
      SELECT ${row} FROM ${rows} l JOIN ${rows} p ON ${at('p', 'l', 'previous')}
      WHERE l.event <> 'rename' AND l.operation IS NOT NULL AND p.operation IS NOT NULL
        AND ${IS_OURS} AND l.version <> p.version + 1
        AND l.id >= (SELECT first_event FROM homes h WHERE h.agent_id = l.agent_id)
        AND l.id >= coalesce((SELECT last FROM erasures e WHERE e.agent_id = l.agent_id), 0)`,
  },
  {
    fault: 'a version belongs to no memory',
    wrong: `SELECT agent_id || ' n=' || n FROM (
        SELECT agent_id, n FROM ${rows} l WHERE operation IS NOT NULL
        EXCEPT SELECT agent_id, previous FROM ${rows} l WHERE operation IS NOT NULL
        EXCEPT SELECT agent_id, n FROM memories
      ) AS alone`,
  },
]

/**
 * The retained events that imported something, `imports`. `bound`: odd if the last event before it that
 * says so said that an import began, and even if it said that one ended; null if there is none, as
 * before schema 27.
 */
const inImports = (rows: string): string => `imports AS (
    SELECT l.agent_id, l.id, l.event,
      max(CASE l.event WHEN 'import' THEN NULL WHEN 'begin_import' THEN 2 * l.id + 1 ELSE 2 * l.id END)
        OVER (PARTITION BY l.agent_id ORDER BY l.id) AS bound
    FROM ${rows} l JOIN homes h ON h.agent_id = l.agent_id AND l.id >= h.first_event
    WHERE l.event IN ('import', 'begin_import', 'end_import', 'undo_import')
  )`

const ofOrigins = ({ rows, at }: Log): readonly Promised[] => [
  {
    // If the one between them was erased, it may have been a rename.
    fault: 'a version is under another key than the one before it',
    wrong: `SELECT ${row} FROM ${rows} l JOIN ${rows} p ON ${at('p', 'l', 'previous')}
      WHERE l.operation IS NOT NULL AND p.operation IS NOT NULL AND l.version = p.version + 1
        AND (l.event <> 'import' OR p.event IS NOT NULL)
        AND p.key <> CASE WHEN l.event = 'rename' THEN l.renamed_from ELSE l.key END`,
  },
  {
    fault: 'a memory was not created when its first version was written',
    wrong: `SELECT ${row} FROM ${rows} l JOIN homes h ON h.agent_id = l.agent_id
      LEFT JOIN ${rows} p ON ${at('p', 'l', 'previous')}
      WHERE l.event IN ('write', 'patch', 'append', 'edit') AND l.operation IS NOT NULL
        AND l.id >= h.first_event AND (l.version = 1 OR (p.operation = 'delete' AND l.version = p.version + 1))
        AND l.created_at <> l.updated_at`,
  },
  {
    // Before schema 27 a rollback could keep its versions in rows of their own, with the salted hash of
    // its events, and an import brought earlier versions without any.
    fault: 'a version was made by no event, and none can have been pruned',
    wrong: `WITH ${inImports(rows)}
      SELECT l.agent_id || ' ' || l.key FROM (
        SELECT agent_id, key, version, operation, author, content FROM ${rows} l
        WHERE event IS NULL AND operation IS NOT NULL
        EXCEPT SELECT agent_id, key, version, event, author, content FROM ${rows} l
        WHERE event IS NOT NULL AND operation IS NULL
      ) AS l JOIN homes h ON h.agent_id = l.agent_id
      WHERE h.first_event = 1
        AND l.agent_id NOT IN (SELECT agent_id FROM imports WHERE event = 'import' AND bound IS NULL)`,
  },
  {
    // Before schema 27 the time of what an import or a rollback changed was that of the version before
    // it, if the clock had gone back.
    fault: 'a version differs from the event that made it',
    wrong: `SELECT ${row} FROM ${rows} l
      LEFT JOIN ${rows} p ON ${at('p', 'l', 'previous')} AND p.operation IS NOT NULL
        AND p.version = l.version - 1
      WHERE (l.event_author IS NOT NULL AND l.event IS DISTINCT FROM 'import')
        OR (l.made_as IS NOT NULL AND (l.event_author IS NULL OR l.operation IS NULL))
        OR l.happened_at = l.updated_at
        OR (l.event_author IS NULL AND (l.event <> l.operation
          OR (l.happened_at IS NOT NULL AND l.event IS NULL)
          OR (l.happened_at IS NOT NULL AND l.event NOT IN ('import', 'restore', 'delete'))
          OR l.happened_at > l.updated_at
          OR (l.happened_at IS NOT NULL AND l.updated_at <> p.updated_at)))`,
  },
  {
    // All versions of a key are brought at once, to a key that is new.
    fault: 'what an import brought follows on what it did not bring',
    wrong: `SELECT ${row} FROM ${rows} l JOIN ${rows} p ON ${at('p', 'l', 'previous')}
      WHERE l.event_author IS NOT NULL AND l.operation IS NOT NULL AND p.operation IS NOT NULL
        AND p.event IS NOT NULL
        AND (p.event_author, coalesce(p.happened_at, p.updated_at))
          IS DISTINCT FROM (l.event_author, coalesce(l.happened_at, l.updated_at))`,
  },
]

/** Events that say that an import or a rollback began or ended. */
const BOUNDS = "'begin_import', 'end_import', 'undo_import', 'rollback', 'end_rollback'"

const ofImports = ({ rows }: Log): readonly Promised[] => [
  {
    fault: 'what was imported is of no import that had begun',
    wrong: `WITH ${inImports(rows)}
      SELECT agent_id || ' event=' || id FROM imports WHERE event = 'import' AND bound % 2 = 0`,
  },
  {
    // Before schema 27 no event said that a rollback ended.
    fault: 'an import or a rollback has not ended and is not remembered, or has and is',
    wrong: `WITH last AS (
        SELECT agent_id, id, event FROM (
          SELECT l.agent_id, l.id, l.event,
            row_number() OVER (PARTITION BY l.agent_id ORDER BY l.id DESC) AS place
          FROM ${rows} l JOIN homes h ON h.agent_id = l.agent_id AND l.id >= h.first_event
          WHERE l.event IN (${BOUNDS})
        ) AS numbered WHERE place = 1
      )
      SELECT u.agent_id || ' event=' || u.event FROM unfinished u
      LEFT JOIN last ON last.agent_id = u.agent_id
      WHERE (last.id, last.event) IS DISTINCT FROM
        (u.event, CASE WHEN u.rollback IS NULL THEN 'begin_import' ELSE 'rollback' END)
      UNION ALL SELECT agent_id || ' event=' || id FROM last
        WHERE event = 'begin_import' AND agent_id NOT IN (SELECT agent_id FROM unfinished)`,
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

/** Those of the memories and of the log. */
export const promisedOfLog = (log: Log): readonly Promised[] => [
  ...ofMemories(log),
  ...ofEvents(log),
  ...ofVersions(log),
  ...ofOrigins(log),
  ...ofImports(log),
  ...ofLog(log),
]
