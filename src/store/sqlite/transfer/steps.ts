/**
 * The steps of an import, in a temporary table of the writer's connection. They contain rows, not
 * texts.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { Fate, Newest } from '../../import-plan.ts'
import { prepare, prepareTuples } from '../engine/connection.ts'

/** What to do with a key. */
export interface Step {
  readonly newest: Newest
  /** Bytes of all its versions that are to be kept. */
  readonly bytes: number
  /** Versions in the source. */
  readonly versions: number
  readonly pinned: boolean
  /** The fate that its versions were staged with. */
  readonly fate: Fate
  /** The row of the version before the newest, and of the newest; null if there is none. */
  readonly previous: number | null
  readonly n: number | null
  /** Staged versions. */
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
