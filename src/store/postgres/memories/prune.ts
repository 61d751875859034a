/**
 * Pruning of versions, events and tombstones. Each is one statement that locks the home first, and
 * may be skipped: a later change finds the same rows again.
 */
import type { HomeBounds } from '../../port/store.ts'
import { AHEAD, roomOf, surplusOf } from '../../surplus.ts'
import { ask, statement, type Verb } from '../../verbs/verb.ts'
import { chainOf, IS_SETTLED, PRUNED } from './log.ts'

/** Events over the limit are removed in batches of this size. */
const EVENTS_AT_ONCE = 64

const HELD = `held AS (
  SELECT agent_id, bytes + history + vectors AS bytes, deleted, first_event FROM homes
  WHERE agent_id = $1 AND ${IS_SETTLED} FOR UPDATE
)`

const COUNTED_DOWN = `
  counted AS (
    UPDATE homes SET history = history - (SELECT coalesce(sum(size), 0)::BIGINT FROM pruned)
    WHERE agent_id = $1 RETURNING bytes + history + vectors AS bytes
  )
  SELECT bytes`

const dropSurplus = statement<{ bytes: number }>(`
  WITH RECURSIVE ${HELD}, ${chainOf('m.key = ANY($2::TEXT[])', 'NULL')},
  due AS (SELECT n FROM chain WHERE nth > $3),
  ${PRUNED}, ${COUNTED_DOWN} FROM counted`)

const AGED_AT_ONCE = 1_000

/** Of one change; the rest is left to later ones. */
const ROUNDS = 4

/**
 * A version that is not current never becomes current again. $2: the limit of the home; $3: the
 * size to prune down to.
 */
const dropOldest = statement<{ bytes: number; dropped: number }>(`
  WITH ${HELD},
  due AS (
    SELECT n FROM (
      SELECT n, sum(size) OVER (ORDER BY n) - size AS older,
        row_number() OVER (ORDER BY n) AS nth FROM (
        SELECT o.n, o.size FROM log o LEFT JOIN LATERAL (
          SELECT n FROM memories WHERE agent_id = $1 AND key = o.key OFFSET 0
        ) AS m ON true
        WHERE o.agent_id = $1 AND o.kept AND m.n IS DISTINCT FROM o.n
        ORDER BY o.n LIMIT ${AGED_AT_ONCE}
      ) AS oldest
    ) AS summed
    WHERE older < (SELECT bytes FROM held)
      - CASE WHEN nth > ${AHEAD} THEN $2::BIGINT ELSE $3::BIGINT END
  ),
  ${PRUNED}, ${COUNTED_DOWN}, (SELECT count(*) FROM pruned) AS dropped FROM counted`)

/** Of the events over the limit; more would take a statement too long. */
const DROPPED_AT_ONCE = 5_000

/** Up to the event $2 at most. Rows that are versions stay. */
const dropEvents = statement(`
  WITH range AS (
    SELECT first_event AS first, least($2::BIGINT, first_event + ${DROPPED_AT_ONCE} - 1) AS last
    FROM homes WHERE agent_id = $1
  ),
  moved AS (
    UPDATE homes h SET first_event = r.last + 1,
      base = coalesce((SELECT hash FROM log WHERE agent_id = $1 AND n = r.last), h.base)
    FROM range r WHERE h.agent_id = $1 AND h.first_event = r.first AND r.first <= r.last
      AND ${IS_SETTLED}
    RETURNING r.first, r.last
  ),
  dropped AS (
    DELETE FROM log
    WHERE agent_id = $1 AND n >= (SELECT first FROM moved) AND n <= (SELECT last FROM moved)
      AND NOT kept
  )
  SELECT`)

/** Tombstones: more, with their versions, would take a change too long. */
const FORGOTTEN_AT_ONCE = 100

/**
 * Together with their retained versions. Memories created later start above the highest of them.
 */
const forgetDeletes = statement<{ bytes: number }>(`
  WITH RECURSIVE ${HELD},
  oldest AS (
    SELECT key FROM memories WHERE agent_id = $1 AND deleted
    ORDER BY updated_at, key
    LIMIT (SELECT least(greatest(deleted - $2, 0), ${FORGOTTEN_AT_ONCE}) FROM held)
  ),
  ${chainOf('m.key IN (SELECT key FROM oldest)', 'NULL')},
  due AS (SELECT n FROM chain),
  ${PRUNED},
  forgotten AS (
    DELETE FROM memories m WHERE m.agent_id = $1 AND m.deleted
      AND m.key = ANY(ARRAY(SELECT key FROM oldest))
    RETURNING m.version
  ),
  counted AS (
    UPDATE homes SET history = history - (SELECT coalesce(sum(size), 0)::BIGINT FROM pruned),
      deleted = deleted - (SELECT count(*) FROM forgotten),
      floor = greatest(floor, (SELECT max(version) FROM forgotten))
    WHERE agent_id = $1 RETURNING bytes + history + vectors AS bytes
  )
  SELECT bytes FROM counted`)

/** What a change added: versions, bytes, and event numbers. */
export interface Grown {
  readonly made: readonly { readonly key: string; readonly version: number }[]
  readonly bytes: number
  /** Tombstones. */
  readonly deleted: number
  readonly events: { readonly from: number; readonly to: number }
}

function* pruneEvents(agentId: string, { from, to }: Grown['events'], most: number): Verb<void> {
  const due = Math.floor(to / EVENTS_AT_ONCE) > Math.floor(from / EVENTS_AT_ONCE)
  if (most > 0 && to > most && due) yield* ask(dropEvents, agentId, to - most)
}

function* pruneVersions(
  agentId: string,
  made: Grown['made'],
  most: number,
): Verb<number | undefined> {
  // Versions are not counted: a number that a rename skips is pruned by a later change.
  const isDue = (over: number): boolean => over > 0 && over % surplusOf(most) === 0
  const due = made.filter(({ version }) => isDue(version - most))
  if (most === 0 || due.length === 0) return undefined
  const keys = due.map(({ key }) => key)
  return (yield* ask(dropSurplus, agentId, keys, most))[0]?.bytes
}

function* pruneBytes(agentId: string, held: number, most: number): Verb<void> {
  let bytes = held
  for (let round = 0; most > 0 && bytes > most && round < ROUNDS; round++) {
    const [pruned] = yield* ask(dropOldest, agentId, most, roomOf(most))
    if (!pruned?.dropped) return
    bytes = pruned.bytes
  }
}

function* pruneDeletes(agentId: string, deleted: number, most: number): Verb<number | undefined> {
  if (most === 0 || deleted < most + EVENTS_AT_ONCE) return undefined
  return (yield* ask(forgetDeletes, agentId, most))[0]?.bytes
}

export function* prune(
  agentId: string,
  { made, bytes, deleted, events }: Grown,
  bounds: HomeBounds,
): Verb<void> {
  yield* pruneEvents(agentId, events, bounds.events)
  const without = yield* pruneDeletes(agentId, deleted, bounds.events)
  const left = yield* pruneVersions(agentId, made, bounds.versions)
  yield* pruneBytes(agentId, left ?? without ?? bytes, bounds.bytes)
}
