/**
 * The log of a home: what happened, with what it made of a memory. A row's number is that of its
 * event, counted in the home. A version names the one before it of the same memory, and the memory
 * names its newest.
 *
 * Rows live for as long as they are a version (`kept`) or an event: the events that are kept begin
 * with the home's `first_event`. What came along with an import lies below zero: it is no event, and
 * older than all that happened here.
 */
import { statement } from '../engine/connections.ts'

/**
 * The row at a place of a home's log. Planned as one with what names the place, a server that takes
 * the home for a small one reads all of its log for each: OFFSET keeps it apart, and costs no step
 * of its own as LIMIT does. What changes rows names their places in an array for the same reason.
 */
export const rowAt = (agentId: string, place: string): string =>
  `LATERAL (SELECT * FROM log WHERE agent_id = ${agentId} AND n = ${place} OFFSET 0)`

/** The version that the memory `m` is now. */
export const CURRENT = `LEFT JOIN ${rowAt('m.agent_id', 'm.n')} AS v ON true`

/** Beyond the versions of any import. */
export const BLOCK = 1_000_000_000

/** Where the versions of an import begin, in the order in which they come. */
export const beneath = (lowest: number): number => Math.floor(lowest / BLOCK - 1) * BLOCK

/**
 * Of what is there, of imports that are not over, and of versions that were pruned: one that is kept
 * still names the pruned one before it, and would take whatever had that place for its own history.
 */
export const lowestPlace = statement<{ n: number }>(
  'lowest_place',
  `SELECT least(0, (SELECT min(n) FROM log WHERE agent_id = $1),
     (SELECT min(previous) FROM log WHERE agent_id = $1 AND previous < 0),
     (SELECT min(place) FROM staged_imports WHERE agent_id = $1))::BIGINT AS n`,
)

/** What an import that is not over has written: no version yet. */
export const isStaged = (place: string): string =>
  `EXISTS (SELECT 1 FROM staged_imports s
     WHERE s.agent_id = $1 AND ${place} >= s.place AND ${place} < s.place + ${BLOCK})`

/**
 * The versions of memories, each the newest first: `under`, `n`, `previous`, `version`, `size` and
 * `nth`. `heads`: which memories `m` of the agent $1; `most`: of each, null for all.
 */
export const chainOf = (heads: string, most: string): string => `
  chain (under, n, previous, version, size, nth) AS (
    SELECT m.key, l.n, l.previous, l.version, l.size, 1
    FROM memories m CROSS JOIN ${rowAt('m.agent_id', 'm.n')} AS l
    WHERE m.agent_id = $1 AND ${heads}
    UNION ALL
    SELECT c.under, l.n, l.previous, l.version, l.size, c.nth + 1
    FROM chain c CROSS JOIN ${rowAt('$1', 'c.previous')} AS l
    WHERE l.kept AND (${most}::BIGINT IS NULL OR c.nth < ${most}::BIGINT)
  )`

/**
 * Gives up the versions at the places of `aged`; `held` is the home. What is an event still stays
 * without its text. Answers their `size` as `freed`.
 */
export const GIVEN_UP = `
  gone AS (
    DELETE FROM log l USING held h
    WHERE l.agent_id = $1 AND l.n = ANY(ARRAY(SELECT n FROM aged)) AND l.kept
      AND l.n < h.first_event
    RETURNING l.size
  ),
  bared AS (
    UPDATE log l SET kept = false, metadata = NULL, text = NULL FROM held h
    WHERE l.agent_id = $1 AND l.n = ANY(ARRAY(SELECT n FROM aged)) AND l.kept
      AND l.n >= h.first_event
    RETURNING l.size
  ),
  freed AS (SELECT size FROM gone UNION ALL SELECT size FROM bared)`

/** $-parameters of what happened. */
interface Parameters {
  readonly type: string
  readonly author: string
  readonly now: string
  readonly key?: string
}

/** What happened, in a source that has its number as `last_event`. */
export const logFrom = (
  source: string,
  { type, author, now, key = 'NULL' }: Parameters,
): string => `
  INSERT INTO log (agent_id, n, kept, operation, author, updated_at, key)
  SELECT agent_id, last_event, false, ${type}, ${author}, ${now}::BIGINT, ${key} FROM ${source}`

/** No limit is null to the server. */
export const boundOf = (most: number): number | null => most || null
