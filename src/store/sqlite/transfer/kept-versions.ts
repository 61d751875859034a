/** All retained versions of a home for an export, by key, oldest first. */
import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import type { KeptVersion } from '../../port/transfer.ts'
import { keptVersionOf } from '../../rows.ts'
import { prepare } from '../engine/connection.ts'
import { prepareChain, prepareContent } from '../keeping/versions.ts'

interface KeptMemory {
  key: string
  n: number
  deleted: number
}

/** `most`: versions retained of a memory. */
export function prepareExportHistory(db: DatabaseSync, most: number) {
  const memories = prepare<KeptMemory>(
    db,
    `SELECT key, n, deleted FROM memories
     WHERE agent_id = ? AND key >= ? AND key < ? AND n IS NOT NULL ORDER BY key`,
  )
  const chain = prepareChain(db)
  const content = prepareContent(db)

  return function* history(bounds: readonly SQLInputValue[]): Generator<KeptVersion> {
    for (const { key, n, deleted } of memories.iterate(...bounds)) {
      for (const row of [...chain(n, most)].toReversed()) {
        const isCurrent = row.n === n && deleted === 0
        const { text = null, metadata = null } = (!isCurrent && content(row.n)) || {}
        yield keptVersionOf({ ...row, key, text, metadata })
      }
    }
  }
}
