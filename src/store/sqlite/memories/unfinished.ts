/** Imports and rollbacks that have begun and not ended. Nothing of their homes is pruned meanwhile. */
import type { DatabaseSync } from 'node:sqlite'
import type { Wanted } from '../../batches.ts'
import { prepareTuples } from '../engine/connection.ts'

type UnfinishedTuple = [event: number, rollback: string | null]

export interface Going {
  /** The event that it began with. */
  readonly event: number
  /** Undefined: an import. */
  readonly rollback: Wanted | undefined
}

export function prepareUnfinished(db: DatabaseSync) {
  const select = prepareTuples<UnfinishedTuple>(
    db,
    'SELECT event, rollback FROM unfinished WHERE agent_id = ?',
  )
  const all = prepareTuples<[agentId: string]>(db, 'SELECT agent_id FROM unfinished')
  const insert = prepareTuples(
    db,
    'INSERT INTO unfinished (agent_id, event, rollback) VALUES (?, ?, ?)',
  )
  const remove = prepareTuples(db, 'DELETE FROM unfinished WHERE agent_id = ?')
  return {
    of(agentId: string): Going | undefined {
      const [event, rollback] = select.get(agentId) ?? []
      if (event === undefined) return undefined
      return { event, rollback: rollback ? (JSON.parse(rollback) as Wanted) : undefined }
    },
    all: (): string[] => all.all().map(([agentId]) => agentId),
    begin(agentId: string, { event, rollback }: Going): void {
      insert.run(agentId, event, rollback ? JSON.stringify(rollback) : null)
    },
    end: (agentId: string): void => void remove.run(agentId),
  }
}
