/**
 * Prunes versions in log order, so that rows of a page are removed together.
 *
 * Neighbouring log rows belong to different memories. If each memory pruned its own versions, a
 * page would be written once for each of its rows, which is more than half the cost of an update.
 * Instead a cursor moves through the log, starting where the first memory exceeded its limit: two
 * rows for each new version of a memory that is well over the limit. That keeps it where half of
 * all changes meet such a memory, so nearly all rows it passes can be removed. Rows that it skips,
 * of memories that change less often, go with later ones or when the memory prunes itself (see
 * `preparePrune`).
 *
 * The cursor need not outlive the process.
 */
import type { DatabaseSync } from 'node:sqlite'
import { surplusOf } from '../../surplus.ts'
import { prepare, prepareTuples } from '../engine/connection.ts'
import type { Kept } from './log.ts'
import { prepareFree, prepareWalk } from './prune.ts'
import { prepareUnfinished } from './unfinished.ts'

/** Rows read together. */
const AT_ONCE = 64

/** Rows to advance for each version of a memory well over the limit. */
const PACE = 2

type OverTuple = [
  n: number,
  eventId: number,
  event: Kept['event'],
  size: number,
  agentId: string,
  key: string,
  firstEvent: number,
  /** Null if the previous version was removed, as most are. */
  previous: number | null,
]

/** Versions over the limit between the rows ?1 and ?2, as far as their numbers tell. */
const OVER = `
  SELECT l.n, l.id, l.event, l.size, l.agent_id, l.key, h.first_event, p.n
  FROM log l
  CROSS JOIN memories m ON m.agent_id = l.agent_id AND m.key = l.key
  CROSS JOIN homes h ON h.agent_id = l.agent_id
  LEFT JOIN log p ON p.n = l.previous AND p.operation IS NOT NULL
  WHERE l.n BETWEEN ?1 AND ?2 AND l.operation IS NOT NULL AND l.event IS NOT NULL
    AND m.version - l.version BETWEEN ?3 AND m.run`

/** Removes a version and the skipped ones before it. */
function preparePruneSurplus(db: DatabaseSync) {
  const unfinished = prepareUnfinished(db)
  const walk = prepareWalk(db)
  const free = prepareFree(db)
  const count = prepare(
    db,
    'UPDATE memories SET kept = max(kept - ?, 1) WHERE agent_id = ? AND key = ?',
  )
  const credit = prepare(db, 'UPDATE homes SET history = history - ? WHERE agent_id = ?')
  return (over: readonly OverTuple[]): void => {
    const freed = new Map<string, number>()
    const going = new Set(unfinished.all())
    for (const [n, event_id, event, size, agentId, key, firstEvent, previous] of over) {
      if (going.has(agentId)) continue
      const rows = [{ n, event_id, event, size }, ...walk(previous, 0)]
      const bytes = free(agentId, { firstEvent }, rows)
      freed.set(agentId, (freed.get(agentId) ?? 0) + bytes)
      count.run(rows.length, agentId, key)
    }
    for (const [agentId, bytes] of freed) credit.run(bytes, agentId)
  }
}

/**
 * `versions`: how many are retained of a memory; 0: all. `cursor`: the row to start with; by default
 * the first worth pruning.
 */
export function prepareSweep(db: DatabaseSync, versions: number, cursor?: number) {
  const last = prepareTuples<[n: number]>(
    db,
    `SELECT n FROM log WHERE n >= ? ORDER BY n LIMIT 1 OFFSET ${AT_ONCE - 1}`,
  )
  const over = prepareTuples<OverTuple>(db, OVER)
  const pruneSurplus = preparePruneSurplus(db)
  /** A lower value skips more rows; a higher one lets more memories prune themselves. */
  const well = versions + surplusOf(versions) / 3
  // Without a limit nothing is over it.
  let next = versions > 0 ? cursor : undefined
  let debt = 0

  /** Whether the log continues behind those rows. */
  function look(): boolean {
    if (next === undefined) return false
    const to = last.get(next)?.[0]
    pruneSurplus(over.all(next, to ?? Number.MAX_SAFE_INTEGER, versions))
    next = to === undefined ? undefined : to + 1
    return next !== undefined
  }

  return {
    look,
    /** A memory has this many versions now, and may have pruned some itself. */
    made(count: number, pruned: number | undefined): void {
      next ??= pruned
      if (count > well) debt += PACE
    },
    /** Catches up before more is written, so that freed pages are reused. */
    goOn(): void {
      for (; debt >= AT_ONCE; debt -= AT_ONCE) look()
    },
  }
}
