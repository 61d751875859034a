/** Daily counters of each agent. */
import type { DatabaseSync } from 'node:sqlite'
import type { CountedCalls } from '../port/activity.ts'
import { prepare } from './engine/connection.ts'

export function prepareCountCalls(db: DatabaseSync) {
  const count = prepare(
    db,
    `INSERT INTO daily_calls (agent_id, day, reads, conflicts, refusals, seen_at)
     SELECT agent_id, ?2, ?3, ?4, ?5, ?6 FROM agents WHERE agent_id = ?1
     ON CONFLICT (agent_id, day) DO UPDATE SET reads = reads + excluded.reads,
       conflicts = conflicts + excluded.conflicts, refusals = refusals + excluded.refusals,
       seen_at = max(seen_at, excluded.seen_at)`,
  )
  return (calls: readonly CountedCalls[]): void => {
    for (const { agentId, day, reads, conflicts, refusals, seenAt } of calls) {
      count.run(agentId, day, reads, conflicts, refusals, seenAt)
    }
  }
}
