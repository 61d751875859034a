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
import { type OwnedAgentRow, ownedAgentOf } from '../rows.ts'
import { AGENT_COLUMNS } from './agents.ts'
import { type Connections, statement } from './engine/connections.ts'
import { type AdmittedRow, refusedBy } from './identities.ts'

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

/** Null where the reader may look and was never there. */
const lastSeen = statement<AdmittedRow & { seen_at: number | null }>(
  'last_seen',
  `SELECT c.kind, c.status AS credential_status,
     (SELECT seen_at FROM daily_calls s WHERE s.agent_id = c.agent_id ORDER BY s.day DESC LIMIT 1)
       AS seen_at
   FROM credentials c WHERE c.agent_id = $1 AND c.token_hash = $2`,
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
  async readActivity({ agentId, tokenHash }: Identity, sinceDay: number): Promise<ActivityAnswer> {
    const [seen] = await read(lastSeen, agentId, tokenHash)
    const refused = refusedBy(seen)
    if (refused) return refused
    const days = await read(activityByDay, agentId, sinceDay)
    return { outcome: 'activity', days, seenAt: seen?.seen_at ?? undefined }
  },
})
