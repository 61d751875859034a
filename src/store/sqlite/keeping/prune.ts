/**
 * What gives way: of a memory the versions over its count, of a home the oldest ones over its bytes,
 * and the oldest deletes over the count of its events.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { HomeBounds } from '../../port/store.ts'
import { AHEAD, roomOf, surplusOf } from '../../surplus.ts'
import { prepare, prepareTuples } from '../engine/connection.ts'
import type { Home } from './homes.ts'
import { type Kept, prepareDrop, prepareFile } from './log.ts'

/**
 * What is given up beyond a change's own share of a home that is far over its bounds, as an import
 * may leave it: in bytes, and in versions of what is forgotten. The rest waits for the next.
 */
const SHARE_BYTES = 262_144
const SHARE_VERSIONS = 1_024

type AgedRow = Kept & { readonly size: number }

interface ForgottenRow {
  key: string
  version: number
  n: number | null
}

interface Behind {
  /** Where the newest lies; null where none is kept. */
  readonly n: number | null
  readonly count: number
}

interface Left {
  /** How many are behind it. */
  readonly count: number
  /** Bytes. */
  readonly freed: number
  /** Where the oldest lay that gave way. */
  readonly oldest?: number | undefined
}

type WalkTuple = [n: number, eventId: number, event: AgedRow['event'], size: number]

/** So many versions of a memory from the newest on, or all of them (0): one statement, for there are many. */
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
  return (newest: number | null, most: number): readonly AgedRow[] => {
    if (newest === null) return []
    const rows = walk.all(newest, most === 0 ? -1 : most)
    return rows.map(([n, event_id, event, size]) => ({ n, event_id, event, size }))
  }
}

/** Gives up the versions, and answers the bytes that were freed. */
export function prepareFree(db: DatabaseSync) {
  const drop = prepareDrop(db)
  return (agentId: string, home: Pick<Home, 'firstEvent'>, rows: readonly AgedRow[]): number => {
    for (const row of rows) drop(agentId, home, row)
    return rows.reduce((sum, { size }) => sum + size, 0)
  }
}

/** Deletes over the bound are forgotten, with what is kept of their memories. */
function prepareForget(db: DatabaseSync, most: number) {
  const walk = prepareWalk(db)
  const free = prepareFree(db)
  const oldest = prepare<ForgottenRow>(
    db,
    `SELECT key, version, n FROM memories WHERE agent_id = ? AND deleted = 1
     ORDER BY change LIMIT +?`,
  )
  const forget = prepare(db, 'DELETE FROM memories WHERE agent_id = ? AND key = ?')
  return (agentId: string, home: Home): Home => {
    if (most === 0 || home.deleted < most + AHEAD) return home
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
}

/** Of all its versions. */
export const bytesOf = ({ bytes, history }: Home): number => bytes + history

export function preparePrune(db: DatabaseSync, { versions, bytes, events }: HomeBounds) {
  const walk = prepareWalk(db)
  const free = prepareFree(db)
  const forget = prepareForget(db, events)
  const file = prepareFile(db)
  const aged = prepare<AgedRow>(
    db,
    `SELECT l.n, l.id AS event_id, l.event, l.size FROM log_index i JOIN log l ON l.n = i.n
     LEFT JOIN memories m ON m.agent_id = i.agent_id AND m.key = l.key AND m.n = l.n
     WHERE i.agent_id = ? AND i.id >= ? AND l.operation IS NOT NULL AND m.n IS NULL
     ORDER BY i.id, i.n LIMIT +?`,
  )

  /** The oldest that may give way. Those that are not in the index are younger than all in it. */
  function oldest(agentId: string, home: Home): { rows: readonly AgedRow[]; home: Home } {
    const rows = aged.all(agentId, home.oldest, AHEAD)
    if (rows.length > 0) return { rows, home }
    const filed = file(agentId, home)
    return { rows: aged.all(agentId, home.oldest, AHEAD), home: filed }
  }

  /** What an import brought lies below what was there before it: that is older still, and goes too. */
  function freeFrom(agentId: string, home: Home, row: AgedRow): Home {
    const freed = free(agentId, home, walk(row.n, 0))
    return { ...home, history: home.history - freed, oldest: row.event_id }
  }

  return {
    /** So many versions from the newest on. */
    chain: (agentId: string, home: Home, newest: number | null, most: number): number =>
      free(agentId, home, walk(newest, most)),
    memory(agentId: string, home: Home, { n, count }: Behind): Left {
      if (versions === 0 || count < versions + surplusOf(versions)) return { count, freed: 0 }
      const rows = walk(n, 0)
      const over = rows.slice(versions)
      const freed = free(agentId, home, over)
      return { count: Math.min(rows.length, versions), freed, oldest: over.at(-1)?.n }
    },
    /** Of what is over the bounds all that came since it held `was` bytes, and a share of the rest. */
    home(agentId: string, before: Home, was: number): Home {
      const goal = Math.max(bytes, was - SHARE_BYTES)
      const ahead = goal > bytes ? goal : roomOf(bytes)
      let home = forget(agentId, before)
      if (bytes === 0 || bytesOf(home) <= goal) return home
      for (let given = 0; bytesOf(home) > (given < AHEAD ? ahead : goal); ) {
        const { rows, home: filed } = oldest(agentId, home)
        home = filed
        // A current text never gives way.
        if (rows.length === 0) return { ...home, oldest: home.lastEvent + 1 }
        for (const row of rows) {
          if (bytesOf(home) <= (given++ < AHEAD ? ahead : goal)) break
          home = freeFrom(agentId, home, row)
        }
      }
      return home
    },
  }
}
