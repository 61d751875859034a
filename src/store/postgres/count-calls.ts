/** Daily counters of each agent. */
import { type ActivityStore, type CountedCalls, DAYS_KEPT } from '../port/activity.ts'
import { type Connections, statement } from './engine/connections.ts'
import { askTogether } from './sharded.ts'

/** Rows are locked in one order, so that nodes counting at the same time cannot deadlock. */
const countCalls = statement(`
  INSERT INTO daily_calls AS d (agent_id, day, reads, conflicts, refusals, seen_at)
  SELECT a.agent_id, s.day, s.reads, s.conflicts, s.refusals, s.seen_at
  FROM unnest($1::TEXT[], $2::BIGINT[], $3::BIGINT[], $4::BIGINT[], $5::BIGINT[], $6::BIGINT[])
    AS s (agent_id, day, reads, conflicts, refusals, seen_at)
  JOIN agents a ON a.agent_id = s.agent_id
  WHERE a.agent_id = ANY($1::TEXT[])
  ORDER BY a.agent_id, s.day
  ON CONFLICT (agent_id, day) DO UPDATE SET reads = d.reads + excluded.reads,
    conflicts = d.conflicts + excluded.conflicts, refusals = d.refusals + excluded.refusals,
    seen_at = greatest(d.seen_at, excluded.seen_at)`)

const forgetDays = statement(`
  DELETE FROM daily_calls d USING unnest($1::TEXT[], $2::BIGINT[]) AS s (agent_id, day)
  WHERE d.agent_id = ANY($1::TEXT[]) AND d.agent_id = s.agent_id AND d.day <= s.day - ${DAYS_KEPT}`)

const column = <K extends keyof CountedCalls>(calls: readonly CountedCalls[], name: K) =>
  calls.map((each) => each[name])

export const countCallsVerb =
  ({ write }: Pick<Connections, 'write'>, sharded: boolean): ActivityStore['countCalls'] =>
  async (calls) => {
    await askTogether(sharded, calls, (some) =>
      write(
        countCalls,
        ...[column(some, 'agentId'), column(some, 'day'), column(some, 'reads')],
        ...[column(some, 'conflicts'), column(some, 'refusals'), column(some, 'seenAt')],
      ),
    )
    await askTogether(sharded, calls, (some) =>
      write(forgetDays, column(some, 'agentId'), column(some, 'day')),
    )
  }
