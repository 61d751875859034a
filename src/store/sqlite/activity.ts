/** What is counted of each agent by the day. */
import type { DatabaseSync } from 'node:sqlite'
import type {
  ActivityAnswer,
  CountedCalls,
  DayOfActivity,
  OwnedAgent,
  Page,
} from '../port/activity.ts'
import type { Identity } from '../port/home.ts'
import { type OwnedAgentRow, ownedAgentOf } from '../rows.ts'
import { AGENT_COLUMNS } from './agents.ts'
import { prepare } from './engine/connection.ts'
import type { Refuse } from './identities.ts'

const SEEN = `SELECT seen_at FROM daily_calls WHERE agent_id = ?1 ORDER BY day DESC LIMIT 1`

function prepareActivity(db: DatabaseSync) {
  const days = prepare<DayOfActivity>(
    db,
    `SELECT day, sum(reads) AS reads, sum(writes) AS writes, sum(conflicts) AS conflicts,
       sum(refusals) AS refusals
     FROM (
       SELECT day, 0 AS reads, writes, 0 AS conflicts, 0 AS refusals
         FROM daily_writes WHERE agent_id = ?1
       UNION ALL SELECT day, 0, writes, 0, 0 FROM homes WHERE agent_id = ?1 AND writes > 0
       UNION ALL SELECT day, reads, 0, conflicts, refusals FROM daily_calls WHERE agent_id = ?1
     ) WHERE day >= ?2 GROUP BY day ORDER BY day`,
  )
  const seen = prepare<{ seen_at: number }>(db, SEEN)
  return (agentId: string, sinceDay: number): ActivityAnswer => ({
    outcome: 'activity',
    days: days.all(agentId, sinceDay).map((day) => ({ ...day })),
    seenAt: seen.get(agentId)?.seen_at,
  })
}

export function prepareActivityReads(db: DatabaseSync, refuse: Refuse) {
  const agents = prepare<OwnedAgentRow>(
    db,
    `SELECT a.*, coalesce(c.reads, 0) AS reads, coalesce(c.conflicts, 0) AS conflicts,
       coalesce(c.refusals, 0) AS refusals,
       coalesce((SELECT writes FROM homes h WHERE h.agent_id = a.id AND h.day = ?4), 0) AS writes,
       (SELECT seen_at FROM daily_calls s WHERE s.agent_id = a.id ORDER BY s.day DESC LIMIT 1)
         AS seen_at
     FROM (
       SELECT ${AGENT_COLUMNS} FROM agents WHERE account_id = ?1 AND id > ?2 ORDER BY id LIMIT +?3
     ) AS a
     LEFT JOIN daily_calls c ON c.agent_id = a.id AND c.day = ?4
     ORDER BY a.id`,
  )
  const activity = prepareActivity(db)
  return {
    listAgents: (accountId: string, { after = '', limit }: Page, day: number): OwnedAgent[] =>
      agents.all(accountId, after, limit, day).map(ownedAgentOf),
    readActivity: (identity: Identity, sinceDay: number): ActivityAnswer =>
      refuse(identity) ?? activity(identity.agentId, sinceDay),
  }
}

export function prepareCountCalls(db: DatabaseSync) {
  const count = prepare(
    db,
    `INSERT INTO daily_calls (agent_id, day, reads, conflicts, refusals, seen_at)
     SELECT id, ?2, ?3, ?4, ?5, ?6 FROM agents WHERE id = ?1
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
