/**
 * The log of a home: events, with the versions that they created. A row's number is its event's
 * number in the home. A version points to the previous version of its memory, and the memory to its
 * newest.
 *
 * A row is kept while it is a version (`kept`) or a retained event; these start at the home's
 * `first_event`. Earlier versions that an import brought before schema 27 have negative numbers: they
 * are no events, and older than all events of this home.
 */

/**
 * The log row with a given number. Joined directly, the planner may read the whole log of a home
 * that it believes to be small; OFFSET prevents that, and unlike LIMIT costs no plan node. Updates
 * list rows ({@link isAmong}) for the same reason.
 */
export const rowAt = (agentId: string, place: string): string =>
  `LATERAL (SELECT * FROM log WHERE agent_id = ${agentId} AND n = ${place} OFFSET 0)`

/**
 * Whether the log row `l` is one of those that the query `numbers` lists. Before version 17
 * PostgreSQL reads a home that it believes to be small from the first to the last of a list.
 */
export const isAmong = (numbers: string): string => `
  l.n = ANY(ARRAY(${numbers})) AND l.n BETWEEN
    (SELECT min(n) FROM (${numbers}) AS t (n)) AND (SELECT max(n) FROM (${numbers}) AS t (n))`

/** The current version of the memory `m` of the agent $1. */
export const CURRENT = `LEFT JOIN ${rowAt('$1', 'm.n')} AS v ON true`

/** Nothing of a home is pruned while an import or a rollback of it is unfinished. */
export const IS_SETTLED = 'NOT EXISTS (SELECT 1 FROM unfinished u WHERE u.agent_id = $1)'

/**
 * The versions of memories, each newest first: `under`, `n`, `previous`, `version`, `size` and
 * `nth`. `heads`: the condition for memories `m` of the agent $1; `most`: versions of each, null
 * for all; `last`: the version at which it ends.
 */
export const chainOf = (heads: string, most: string, last?: string): string => `
  chain (under, n, previous, version, size, nth) AS (
    SELECT m.key, l.n, l.previous, l.version, l.size, 1
    FROM memories m CROSS JOIN ${rowAt('$1', 'm.n')} AS l
    WHERE m.agent_id = $1 AND ${heads}
    UNION ALL
    SELECT c.under, l.n, l.previous, l.version, l.size, c.nth + 1
    FROM chain c CROSS JOIN ${rowAt('$1', 'c.previous')} AS l
    WHERE l.kept AND (${most}::BIGINT IS NULL OR c.nth < ${most}::BIGINT)
      ${last ? `AND c.version > ${last}::BIGINT` : ''}
  )`

/**
 * Removes the versions listed in `due`; `held` is the home. Rows of retained events stay, without
 * the text. Returns their `size` as `pruned`.
 */
export const PRUNED = `
  gone AS (
    DELETE FROM log l USING held h
    WHERE l.agent_id = $1 AND ${isAmong('SELECT n FROM due')} AND l.kept
      AND l.n < h.first_event
    RETURNING l.size
  ),
  stripped AS (
    UPDATE log l SET kept = false, salt = NULL, metadata = NULL, text = NULL, made_as = NULL
    FROM held h
    WHERE l.agent_id = $1 AND ${isAmong('SELECT n FROM due')} AND l.kept
      AND l.n >= h.first_event
    RETURNING l.size
  ),
  pruned AS (SELECT size FROM gone UNION ALL SELECT size FROM stripped)`

/**
 * The hash of a home's next event, from its canonical JSON `before` and `behind` its number. (The
 * database numbers it, in the statement that locks the home.)
 */
export const hashAfter = (home: string, before: string, behind: string): string =>
  `sha256(${home}.head || sha256(convert_to(
     ${before}::TEXT || (${home}.last_event + 1) || ${behind}, 'UTF8')))`

/** Null means no limit to the server. */
export const boundOf = (most: number): number | null => most || null
