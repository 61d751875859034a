/** Daily counters of each agent. */

import type { ActivityAnswer, DayOfActivity, OwnedAgent, Page } from '../port/activity.ts'
import type { Identity } from '../port/identity.ts'
import { type OwnedAgentRow, ownedAgentOf } from '../rows.ts'
import { agentColumns, refuse } from './controls.ts'
import { ask, statement, type Verb } from './verb.ts'

const list = statement<OwnedAgentRow>(`
  SELECT ${agentColumns('agents.agent_id')},
    coalesce(c.reads, 0) AS reads, coalesce(c.conflicts, 0) AS conflicts,
    coalesce(c.refusals, 0) AS refusals,
    coalesce((SELECT day_writes FROM homes h WHERE h.agent_id = agents.agent_id AND h.day = $4), 0)
      AS writes,
    (SELECT seen_at FROM daily_calls s WHERE s.agent_id = agents.agent_id ORDER BY day DESC LIMIT 1)
      AS seen_at
  FROM agents LEFT JOIN daily_calls c ON c.agent_id = agents.agent_id AND c.day = $4
  WHERE account_id = $1 AND agents.agent_id > $2
  ORDER BY agents.agent_id LIMIT CAST($3 AS BIGINT)`)

const byDay = statement<DayOfActivity>(`
  SELECT day, CAST(sum(reads) AS BIGINT) AS reads, CAST(sum(writes) AS BIGINT) AS writes,
    CAST(sum(conflicts) AS BIGINT) AS conflicts, CAST(sum(refusals) AS BIGINT) AS refusals
  FROM (
    SELECT day, 0 AS reads, writes, 0 AS conflicts, 0 AS refusals
      FROM daily_writes WHERE agent_id = $1
    UNION ALL SELECT day, 0, day_writes, 0, 0 FROM homes WHERE agent_id = $1 AND day_writes > 0
    UNION ALL SELECT day, reads, 0, conflicts, refusals FROM daily_calls WHERE agent_id = $1
  ) AS counted
  WHERE day >= $2 GROUP BY day ORDER BY day`)

const lastSeen = statement<{ seen_at: number }>(
  'SELECT seen_at FROM daily_calls WHERE agent_id = $1 ORDER BY day DESC LIMIT 1',
)

export const activityReads = {
  *listAgents(
    accountId: string,
    { after = '', limit }: Page,
    day: number,
  ): Verb<readonly OwnedAgent[]> {
    return (yield* ask(list, accountId, after, limit, day)).map(ownedAgentOf)
  },

  *readActivity(identity: Identity, sinceDay: number): Verb<ActivityAnswer> {
    const refused = yield* refuse(identity)
    if (refused) return refused
    const days = yield* ask(byDay, identity.agentId, sinceDay)
    const [seen] = yield* ask(lastSeen, identity.agentId)
    return { outcome: 'activity', days, seenAt: seen?.seen_at }
  },
}
