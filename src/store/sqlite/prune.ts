/** Versions that give way: of a memory those over its count, of a home the oldest over its bytes. */
import type { DatabaseSync } from 'node:sqlite'
import type { HomeBounds } from '../port/store.ts'
import { prepare } from './engine/connection.ts'
import type { Home } from './homes.ts'
import { prepareChain } from './versions.ts'

/** Versions over the count before they are given up together: to find them costs a walk. */
const surplusOf = (versions: number): number => Math.max(8, Math.ceil(versions / 2))

/** Given up beyond what had to be, for the same reason. */
const AHEAD = 64

interface AgedRow {
  n: number
  size: number
}

interface Behind {
  /** Where the newest lies; null where none is kept. */
  readonly n: number | null
  readonly count: number
}

export function preparePrune(db: DatabaseSync, { versions, bytes }: HomeBounds) {
  const chain = prepareChain(db)
  const drop = prepare(db, 'DELETE FROM versions WHERE n = ?')
  const aged = prepare<AgedRow>(
    db,
    `SELECT v.n, v.size FROM versions v
     LEFT JOIN memories m ON m.agent_id = v.agent_id AND m.key = v.key AND m.n = v.n
     WHERE v.agent_id = ? AND m.n IS NULL ORDER BY v.seq LIMIT ?`,
  )

  const free = (rows: readonly AgedRow[]): number => {
    for (const { n } of rows) drop.run(n)
    return rows.reduce((sum, { size }) => sum + size, 0)
  }

  return {
    /** How many are behind it then, and the bytes that were freed. */
    memory({ n, count }: Behind): { readonly count: number; readonly freed: number } {
      if (versions === 0 || count < versions + surplusOf(versions)) return { count, freed: 0 }
      const rows = [...chain(n, 0)]
      return { count: Math.min(rows.length, versions), freed: free(rows.slice(versions)) }
    },
    /** The bytes that were freed. A current text never gives way. */
    home(agentId: string, home: Home): number {
      let freed = 0
      while (bytes > 0 && home.bytes + home.history - freed > bytes) {
        const rows = aged.all(agentId, AHEAD)
        if (rows.length === 0) break
        freed += free(rows)
      }
      return freed
    },
  }
}
