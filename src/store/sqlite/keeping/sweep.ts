/**
 * Gives up what is over the count in the order of the log, so that the rows of a page go together.
 *
 * Neighbours in the log are of different memories. Where each gives up its own, every page is written
 * once for each of its rows, which is more than half of what an update costs. So one hand goes through
 * the log, from where the first memory gave up its own: two rows further for each version that a memory
 * gets which is well over the count. That keeps it where half of all changes meet such a memory: there
 * nearly all that it passes is over. What it passes by, of memories that change more seldom than most,
 * goes with what it meets of them later, or when the memory gives up by itself (see `preparePrune`).
 *
 * Nobody sees any of this, so where the hand is need not outlive the process.
 */
import type { DatabaseSync } from 'node:sqlite'
import { surplusOf } from '../../surplus.ts'
import { prepare, prepareTuples } from '../engine/connection.ts'
import type { Kept } from './log.ts'
import { prepareFree, prepareWalk } from './prune.ts'

/** Rows of the log that are looked at together. */
const AT_ONCE = 64

/** Rows that are looked at for each version that a memory well over the count gets. */
const PACE = 2

type OverTuple = [
  n: number,
  eventId: number,
  event: Kept['event'],
  size: number,
  agentId: string,
  key: string,
  firstEvent: number,
  /** Null where the version before it is gone, as most are: it lies further back. */
  previous: number | null,
]

/** The versions over the count from the row ?1 on, as far as their numbers tell, up to the row ?2. */
const OVER = `
  SELECT l.n, l.id, l.event, l.size, l.agent_id, l.key, h.first_event, p.n
  FROM log l
  CROSS JOIN memories m ON m.agent_id = l.agent_id AND m.key = l.key
  CROSS JOIN homes h ON h.agent_id = l.agent_id
  LEFT JOIN log p ON p.n = l.previous AND p.operation IS NOT NULL
  WHERE l.n BETWEEN ?1 AND ?2 AND l.operation IS NOT NULL AND l.event IS NOT NULL
    AND m.version - l.version BETWEEN ?3 AND m.run`

/** Gives up a version and those before it that were passed by. */
function prepareGiveUp(db: DatabaseSync) {
  const walk = prepareWalk(db)
  const free = prepareFree(db)
  const count = prepare(
    db,
    'UPDATE memories SET kept = max(kept - ?, 1) WHERE agent_id = ? AND key = ?',
  )
  const credit = prepare(db, 'UPDATE homes SET history = history - ? WHERE agent_id = ?')
  return (over: readonly OverTuple[]): void => {
    const freed = new Map<string, number>()
    for (const [n, event_id, event, size, agentId, key, firstEvent, previous] of over) {
      const rows = [{ n, event_id, event, size }, ...walk(previous, 0)]
      const bytes = free(agentId, { firstEvent }, rows)
      freed.set(agentId, (freed.get(agentId) ?? 0) + bytes)
      count.run(rows.length, agentId, key)
    }
    for (const [agentId, bytes] of freed) credit.run(bytes, agentId)
  }
}

/**
 * `versions`: how many are kept of a memory; 0: all. `hand`: the row of the log to begin with; where
 * it is not given, the first that is known to be worth it.
 */
export function prepareSweep(db: DatabaseSync, versions: number, hand?: number) {
  const last = prepareTuples<[n: number]>(
    db,
    `SELECT n FROM log WHERE n >= ? ORDER BY n LIMIT 1 OFFSET ${AT_ONCE - 1}`,
  )
  const over = prepareTuples<OverTuple>(db, OVER)
  const giveUp = prepareGiveUp(db)
  /** Nearer to the count more is passed by; further from it more memories give up by themselves. */
  const well = versions + surplusOf(versions) / 3
  // Of a bound that is none nothing is over.
  let next = versions > 0 ? hand : undefined
  let owed = 0

  /** Whether there is more of the log behind those rows. */
  function look(): boolean {
    if (next === undefined) return false
    const to = last.get(next)?.[0]
    giveUp(over.all(next, to ?? Number.MAX_SAFE_INTEGER, versions))
    next = to === undefined ? undefined : to + 1
    return next !== undefined
  }

  return {
    look,
    /** A memory has so many versions now, and may have given up some by itself, from a row on. */
    made(count: number, gaveUp: number | undefined): void {
      next ??= gaveUp
      if (count > well) owed += PACE
    },
    /** What is owed is done before more is written, which then takes the pages that become free. */
    goOn(): void {
      for (; owed >= AT_ONCE; owed -= AT_ONCE) look()
    },
  }
}
