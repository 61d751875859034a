/** What is counted of each agent by the day. */
import type {
  ActivityAnswer,
  ActivityStore,
  CountedCalls,
  DayOfActivity,
  OwnedAgent,
  Page,
} from '../port/activity.ts'
import type { Identity } from '../port/home.ts'
import type { MemorySummary } from '../port/keeping/memories.ts'
import { type OwnedAgentRow, ownedAgentOf, type SummaryRow, summaryOf } from '../rows.ts'
import { AGENT_COLUMNS } from './agents.ts'
import { type Connections, statement } from './engine/connections.ts'
import { type AdmittedRow, refusedBy } from './identities.ts'
import { CURRENT } from './keeping/log.ts'

const listAgents = statement<OwnedAgentRow>(
  'list_agents',
  `SELECT a.*, coalesce(c.reads, 0) AS reads, coalesce(c.conflicts, 0) AS conflicts,
     coalesce(c.refusals, 0) AS refusals,
     coalesce((SELECT day_writes FROM homes h WHERE h.agent_id = a.id AND h.day = $4), 0) AS writes,
     (SELECT seen_at FROM daily_calls s WHERE s.agent_id = a.id ORDER BY s.day DESC LIMIT 1)
       AS seen_at
   FROM (
     SELECT ${AGENT_COLUMNS} FROM agents WHERE account_id = $1 AND agent_id > $2
     ORDER BY agent_id LIMIT $3
   ) AS a
   LEFT JOIN daily_calls c ON c.agent_id = a.id AND c.day = $4
   ORDER BY a.id`,
)

/** Null where the reader may look and there is nothing. */
type FoundRow = AdmittedRow & (SummaryRow | { key: null })

const largestMemories = statement<FoundRow>(
  'largest_memories',
  `SELECT c.kind, c.status AS credential_status, m.id, m.key, v.bytes, v.metadata, m.version,
     m.created_at, m.updated_at, v.n AS seq, NULL AS text
   FROM credentials c
   LEFT JOIN memories m ON m.agent_id = c.agent_id AND NOT m.deleted ${CURRENT}
   WHERE c.agent_id = $1 AND c.token_hash = $2
   ORDER BY v.bytes DESC NULLS LAST, m.key LIMIT $3`,
)

const activityByDay = statement<DayOfActivity>(
  'activity_by_day',
  `SELECT day, sum(reads)::BIGINT AS reads, sum(writes)::BIGINT AS writes,
     sum(conflicts)::BIGINT AS conflicts, sum(refusals)::BIGINT AS refusals
   FROM (
     SELECT day, 0 AS reads, writes, 0 AS conflicts, 0 AS refusals
       FROM daily_writes WHERE agent_id = $1
     UNION ALL SELECT day, 0, day_writes, 0, 0 FROM homes WHERE agent_id = $1 AND day_writes > 0
     UNION ALL SELECT day, reads, 0, conflicts, refusals FROM daily_calls WHERE agent_id = $1
   ) AS counted
   WHERE day >= $2 GROUP BY day ORDER BY day`,
)

const lastSeen = statement<{ seen_at: number }>(
  'last_seen',
  'SELECT seen_at FROM daily_calls WHERE agent_id = $1 ORDER BY day DESC LIMIT 1',
)

const totalBytes = statement<{ bytes: number }>(
  'total_bytes',
  `SELECT coalesce(sum(v.bytes), 0)::BIGINT AS bytes
   FROM memories m ${CURRENT}
   WHERE m.agent_id = $1 AND NOT m.deleted`,
)

/** Nodes that count at once take the rows in one order, and never wait for each other in a ring. */
const countCalls = statement(
  'count_calls',
  `INSERT INTO daily_calls AS d (agent_id, day, reads, conflicts, refusals, seen_at)
   SELECT s.* FROM unnest($1::TEXT[], $2::BIGINT[], $3::BIGINT[], $4::BIGINT[], $5::BIGINT[],
     $6::BIGINT[]) AS s (agent_id, day, reads, conflicts, refusals, seen_at)
   JOIN agents a ON a.agent_id = s.agent_id
   ORDER BY s.agent_id, s.day
   ON CONFLICT (agent_id, day) DO UPDATE SET reads = d.reads + excluded.reads,
     conflicts = d.conflicts + excluded.conflicts, refusals = d.refusals + excluded.refusals,
     seen_at = greatest(d.seen_at, excluded.seen_at)`,
)

const summariesOf = (rows: readonly FoundRow[]): MemorySummary[] =>
  rows.flatMap((row) => (row.key === null ? [] : [summaryOf(row)]))

export const activityVerbs = ({ read, write }: Connections): ActivityStore => ({
  async countCalls(calls: readonly CountedCalls[]): Promise<void> {
    const column = <K extends keyof CountedCalls>(name: K) => calls.map((each) => each[name])
    await write(
      countCalls,
      ...[column('agentId'), column('day'), column('reads'), column('conflicts')],
      ...[column('refusals'), column('seenAt')],
    )
  },
  async listAgents(accountId: string, { after = '', limit }: Page, day): Promise<OwnedAgent[]> {
    return (await read(listAgents, accountId, after, limit, day)).map(ownedAgentOf)
  },
  async readActivity(
    { agentId, tokenHash }: Identity,
    sinceDay: number,
    limit: number,
  ): Promise<ActivityAnswer> {
    const largest = await read(largestMemories, agentId, tokenHash, limit)
    const refused = refusedBy(largest[0])
    if (refused) return refused
    const days = await read(activityByDay, agentId, sinceDay)
    const [seen] = await read(lastSeen, agentId)
    const [total] = await read(totalBytes, agentId)
    return {
      outcome: 'activity',
      days,
      seenAt: seen?.seen_at,
      largest: summariesOf(largest),
      totalBytes: total?.bytes ?? 0,
    }
  },
})
