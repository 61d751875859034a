/** Homes in which something happened that was not seen yet. */
import type { DatabaseSync } from 'node:sqlite'
import { prepareTuples } from './engine/connection.ts'

export function prepareNews(db: DatabaseSync) {
  const changed = prepareTuples<[agentId: string]>(
    db,
    `SELECT s.value ->> 0 FROM json_each(?) s LEFT JOIN homes h ON h.agent_id = s.value ->> 0
     WHERE h.last_event IS NOT s.value ->> 1`,
  )
  return (seen: ReadonlyMap<string, number>): string[] =>
    changed.all(JSON.stringify([...seen])).map(([agentId]) => agentId)
}
