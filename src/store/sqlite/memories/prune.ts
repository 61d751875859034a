/**
 * Pruning: versions of a memory over their limit, the oldest versions of a home over its bytes, and
 * the oldest tombstones over theirs.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { HomeBounds } from '../../port/store.ts'
import { AHEAD, roomOf, surplusOf } from '../../surplus.ts'
import { prepare, prepareTuples } from '../engine/connection.ts'
import type { Home } from './homes.ts'
import { type Kept, prepareDrop, prepareIndex } from './log.ts'
import { prepareUnfinished } from './unfinished.ts'

/**
 * How much is pruned beyond the size of a change if a home is far over its limits, as after an
 * import: in bytes, and in versions. The rest is left to later changes.
 */
const SHARE_BYTES = 262_144
const SHARE_VERSIONS = 1_024

type PrunedRow = Kept & { readonly size: number }

interface ForgottenRow {
  key: string
  version: number
  n: number | null
}

interface Behind {
  /** The row of the newest; null if none is retained. */
  readonly n: number | null
  readonly count: number
}

interface Left {
  /** The number of versions behind it. */
  readonly count: number
  /** Bytes. */
  readonly freed: number
  /** The oldest row that was removed. */
  readonly oldest?: number | undefined
}

type WalkTuple = [n: number, eventId: number, event: PrunedRow['event'], size: number]

/** A memory's versions starting from the newest, at most this many or all (0). */
export function prepareWalk(db: DatabaseSync) {
  const walk = prepareTuples<WalkTuple>(
    db,
    `WITH RECURSIVE walk (n, id, event, size, previous) AS (
       SELECT n, id, event, size, previous FROM log WHERE n = ?1 AND operation IS NOT NULL
       UNION ALL
       SELECT l.n, l.id, l.event, l.size, l.previous FROM walk w JOIN log l ON l.n = w.previous
       WHERE l.operation IS NOT NULL
     )
     SELECT n, id, event, size FROM walk LIMIT +?2`,
  )
  return (newest: number | null, most: number): readonly PrunedRow[] => {
    if (newest === null) return []
    const rows = walk.all(newest, most === 0 ? -1 : most)
    return rows.map(([n, event_id, event, size]) => ({ n, event_id, event, size }))
  }
}

/** Removes the versions and returns the freed bytes. */
export function prepareFree(db: DatabaseSync) {
  const drop = prepareDrop(db)
  return (agentId: string, home: Pick<Home, 'firstEvent'>, rows: readonly PrunedRow[]): number => {
    for (const row of rows) drop(agentId, home, row)
    return rows.reduce((sum, { size }) => sum + size, 0)
  }
}

/** Removes tombstones over the limit, with the retained versions of their memories. */
function prepareForget(db: DatabaseSync, most: number) {
  const walk = prepareWalk(db)
  const free = prepareFree(db)
  const oldest = prepare<ForgottenRow>(
    db,
    `SELECT key, version, n FROM memories WHERE agent_id = ? AND deleted = 1
     ORDER BY change LIMIT +?`,
  )
  const forget = prepare(db, 'DELETE FROM memories WHERE agent_id = ? AND key = ?')
  const isDue = ({ deleted }: Home): boolean => most > 0 && deleted >= most + AHEAD
  const some = (agentId: string, home: Home): Home => {
    if (!isDue(home)) return home
    let { deleted, history, floor } = home
    let freed = 0
    const rows = oldest.all(agentId, Math.min(deleted - most, SHARE_VERSIONS))
    for (const { key, version, n } of rows) {
      const versions = walk(n, 0)
      history -= free(agentId, home, versions)
      forget.run(agentId, key)
      floor = Math.max(floor, version)
      deleted--
      freed += versions.length
      if (freed > SHARE_VERSIONS) break
    }
    return { ...home, history, floor, deleted }
  }
  return { isDue, some }
}

/** Of all its versions. */
export const bytesOf = ({ bytes, history, vectors }: Home): number => bytes + history + vectors

export function preparePrune(db: DatabaseSync, { versions, bytes, events }: HomeBounds) {
  const walk = prepareWalk(db)
  const free = prepareFree(db)
  const forget = prepareForget(db, events)
  const unfinished = prepareUnfinished(db)
  const index = prepareIndex(db)
  const candidates = prepare<PrunedRow>(
    db,
    `SELECT l.n, l.id AS event_id, l.event, l.size FROM log_index i JOIN log l ON l.n = i.n
     LEFT JOIN memories m ON m.agent_id = i.agent_id AND m.key = l.key AND m.n = l.n
     WHERE i.agent_id = ? AND i.id >= ? AND l.operation IS NOT NULL AND m.n IS NULL
     ORDER BY i.id, i.n LIMIT +?`,
  )

  /**
   * The oldest version that can be pruned. Rows that are not in the index are newer than all
   * indexed ones.
   */
  function oldest(agentId: string, home: Home): { rows: readonly PrunedRow[]; home: Home } {
    const rows = candidates.all(agentId, home.oldest, AHEAD)
    if (rows.length > 0) return { rows, home }
    const indexed = index(agentId, home)
    return { rows: candidates.all(agentId, home.oldest, AHEAD), home: indexed }
  }

  function freeFrom(agentId: string, home: Home, row: PrunedRow): { home: Home; versions: number } {
    const versions = walk(row.n, 0)
    const history = home.history - free(agentId, home, versions)
    return { home: { ...home, history, oldest: row.event_id }, versions: versions.length }
  }

  return {
    memory(agentId: string, home: Home, { n, count }: Behind): Left {
      const isDue = versions > 0 && count >= versions + surplusOf(versions)
      if (!isDue || unfinished.of(agentId)) return { count, freed: 0 }
      const rows = walk(n, 0)
      const over = rows.slice(versions)
      const freed = free(agentId, home, over)
      return { count: Math.min(rows.length, versions), freed, oldest: over.at(-1)?.n }
    },
    /** Prunes what was added since the home held `was` bytes, and a share of the rest. */
    home(agentId: string, before: Home, was: number): Home {
      const goal = Math.max(bytes, was - SHARE_BYTES)
      const ahead = goal > bytes ? goal : roomOf(bytes)
      const isOver = (home: Home): boolean => bytes > 0 && bytesOf(home) > goal
      if (!(isOver(before) || forget.isDue(before)) || unfinished.of(agentId)) return before
      let home = forget.some(agentId, before)
      if (!isOver(home)) return home
      let freed = 0
      for (let seen = 0; bytesOf(home) > (seen < AHEAD ? ahead : goal); ) {
        const { rows, home: indexed } = oldest(agentId, home)
        home = indexed
        // Current texts are never pruned.
        if (rows.length === 0) return { ...home, oldest: home.lastEvent + 1 }
        for (const row of rows) {
          const isEnough = bytesOf(home) <= (seen++ < AHEAD ? ahead : goal)
          if (isEnough || freed > SHARE_VERSIONS) return home
          const { versions, ...after } = freeFrom(agentId, home, row)
          home = after.home
          if (bytesOf(home) <= was) freed += versions
        }
      }
      return home
    },
  }
}
