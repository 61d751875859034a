/**
 * Budgets shared by all nodes, by the database's clock. The table is unlogged: counting costs no
 * fsync, and after a crash or a failover the windows start again.
 */
import type { PermitLease, PermitPolicy } from '../../port/store.ts'
import { statement } from './connections.ts'
import type { Ask } from './session.ts'

const NOW = '(extract(epoch FROM now()) * 1000)::BIGINT'

/** Permits left in a window that has not ended. */
const REST = 'greatest(0, least($3::BIGINT, $4::BIGINT - permits.taken))'

const leasePermits = statement<PermitLease>(`
  INSERT INTO permits (budget, key, granted, taken, ends_at)
  VALUES ($1, $2, least($3::BIGINT, $4::BIGINT), least($3::BIGINT, $4::BIGINT),
    ${NOW} + $5::BIGINT)
  ON CONFLICT (budget, key) DO UPDATE SET
    granted = CASE WHEN permits.ends_at > ${NOW} THEN ${REST} ELSE excluded.granted END,
    taken = CASE WHEN permits.ends_at > ${NOW} THEN permits.taken + ${REST} ELSE excluded.taken END,
    ends_at = CASE WHEN permits.ends_at > ${NOW} THEN permits.ends_at ELSE excluded.ends_at END
  RETURNING granted, greatest(0, $4::BIGINT - taken) AS unleased, ends_at - ${NOW} AS "endsInMs"`)

/** One call in this many also deletes expired windows: as many as calls can have made, and more. */
const QUESTIONS_PER_SWEEP = 1_000

const forgetEnded = statement(`
  DELETE FROM permits WHERE (budget, key) IN (
    SELECT budget, key FROM permits WHERE ends_at <= ${NOW}
    ORDER BY ends_at LIMIT ${2 * QUESTIONS_PER_SWEEP})`)

export function permitVerbs(write: Ask) {
  let questions = 0
  return async ({ name, quota, windowMs }: PermitPolicy, key: string, wanted: number) => {
    if (++questions % QUESTIONS_PER_SWEEP === 0) await write(forgetEnded)
    const [lease] = await write(leasePermits, name, key, wanted, quota, windowMs)
    return lease ?? { granted: 0, unleased: 0, endsInMs: windowMs }
  }
}
