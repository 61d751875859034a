/**
 * What an import is about to do, in a table that only the writer's connection has, and that ends
 * with it. Of the texts it knows only where they lie.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { Fate, Newest } from '../../import-plan.ts'
import { prepare, prepareTuples } from '../engine/connection.ts'

/** What is to be done under a key. */
export interface Step {
  readonly newest: Newest
  /** Of all its versions that are to be kept. */
  readonly bytes: number
  /** In the source. */
  readonly versions: number
  readonly pinned: boolean
  /** As which its versions were written. */
  readonly fate: Fate
  /** Where the version lies that the newest follows, and the newest itself: null where none does. */
  readonly previous: number | null
  readonly n: number | null
  /** Versions that were written. */
  readonly count: number
}

export function prepareSteps(db: DatabaseSync) {
  db.exec(`
    CREATE TEMP TABLE IF NOT EXISTS steps (
      agent_id TEXT NOT NULL,
      key TEXT NOT NULL,
      step TEXT NOT NULL,
      PRIMARY KEY (agent_id, key)
    ) STRICT, WITHOUT ROWID;`)
  const insert = prepare(db, 'INSERT INTO temp.steps VALUES (?, ?, ?)')
  const select = prepareTuples<[step: string]>(
    db,
    'SELECT step FROM temp.steps WHERE agent_id = ? ORDER BY key',
  )
  const drop = prepare(db, 'DELETE FROM temp.steps WHERE agent_id = ?')
  return {
    add: (agentId: string, step: Step): void =>
      void insert.run(agentId, step.newest.key, JSON.stringify(step)),
    of: (agentId: string): Step[] => select.all(agentId).map(([step]) => JSON.parse(step) as Step),
    drop: (agentId: string): void => void drop.run(agentId),
  }
}

export type Steps = ReturnType<typeof prepareSteps>
