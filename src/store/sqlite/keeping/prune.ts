/**
 * What gives way: of a memory the versions over its count, of a home the oldest ones over its bytes,
 * and the oldest deletes over the count of its events.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { HomeBounds } from '../../port/store.ts'
import { prepare } from '../engine/connection.ts'
import type { Home } from './homes.ts'
import { type Kept, prepareDrop, prepareFile } from './log.ts'
import { prepareChain } from './versions.ts'

/** Versions over the count before they are given up together: to find them costs a walk. */
const surplusOf = (versions: number): number => Math.max(8, Math.ceil(versions / 2))

/** Given up beyond what had to be, for the same reason. */
const AHEAD = 64

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

/** Gives up the versions, and answers the bytes that were freed. */
function prepareFree(db: DatabaseSync) {
  const drop = prepareDrop(db)
  return (agentId: string, home: Home, rows: readonly AgedRow[]): number => {
    for (const row of rows) drop(agentId, home, row)
    return rows.reduce((sum, { size }) => sum + size, 0)
  }
}

/** Deletes over the bound are forgotten, with what is kept of their memories. */
function prepareForget(db: DatabaseSync, most: number) {
  const chain = prepareChain(db)
  const free = prepareFree(db)
  const oldest = prepare<ForgottenRow>(
    db,
    `SELECT key, version, n FROM memories WHERE agent_id = ? AND deleted = 1
     ORDER BY change LIMIT ?`,
  )
  const forget = prepare(db, 'DELETE FROM memories WHERE agent_id = ? AND key = ?')
  return (agentId: string, home: Home): Home => {
    if (most === 0 || home.deleted < most + AHEAD) return home
    let { history, floor } = home
    for (const { key, version, n } of oldest.all(agentId, home.deleted - most)) {
      history -= free(agentId, home, [...chain(n, 0)])
      forget.run(agentId, key)
      floor = Math.max(floor, version)
    }
    return { ...home, history, floor, deleted: most }
  }
}

export function preparePrune(db: DatabaseSync, { versions, bytes, events }: HomeBounds) {
  const chain = prepareChain(db)
  const free = prepareFree(db)
  const forget = prepareForget(db, events)
  const file = prepareFile(db)
  const aged = prepare<AgedRow>(
    db,
    `SELECT l.n, l.id AS event_id, l.event, l.size FROM log_index i JOIN log l ON l.n = i.n
     LEFT JOIN memories m ON m.agent_id = i.agent_id AND m.key = l.key AND m.n = l.n
     WHERE i.agent_id = ? AND i.id >= ? AND l.operation IS NOT NULL AND m.n IS NULL
     ORDER BY i.id, i.n LIMIT ?`,
  )

  /** The oldest that may give way. Those that are not in the index are younger than all in it. */
  function oldest(agentId: string, home: Home): { rows: readonly AgedRow[]; home: Home } {
    const rows = aged.all(agentId, home.oldest, AHEAD)
    if (rows.length > 0) return { rows, home }
    const filed = file(agentId, home)
    return { rows: aged.all(agentId, home.oldest, AHEAD), home: filed }
  }

  return {
    /** How many are behind it then, and the bytes that were freed. */
    memory(
      agentId: string,
      home: Home,
      { n, count }: Behind,
    ): { readonly count: number; readonly freed: number } {
      if (versions === 0 || count < versions + surplusOf(versions)) return { count, freed: 0 }
      const rows = [...chain(n, 0)]
      const freed = free(agentId, home, rows.slice(versions))
      return { count: Math.min(rows.length, versions), freed }
    },
    /** A current text never gives way. */
    home(agentId: string, before: Home): Home {
      let home = forget(agentId, before)
      while (bytes > 0 && home.bytes + home.history > bytes) {
        const { rows, home: filed } = oldest(agentId, home)
        const last = rows.at(-1)
        if (!last) return { ...filed, oldest: filed.lastEvent + 1 }
        const history = filed.history - free(agentId, filed, rows)
        home = { ...filed, history, oldest: last.event_id }
      }
      return home
    },
  }
}
