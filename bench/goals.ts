/** The goals that the one table decides. */
import type { Operation, Sample } from './load/dialect.ts'
import type { Goal } from './result.ts'
import {
  BARE,
  find,
  limitOf,
  type Measured,
  PLAIN_ROW,
  READ_CONNECTIONS,
  SQLITE,
  WRITE_CONNECTIONS,
} from './table.ts'

const OURS = 'agent-home'
const ETCD = 'etcd, JSON gateway'

export const HOT_CONNECTIONS = 256

const MAX_HOT_P99_MS = 30

/** Beside a slower sync the rest of a write counts less. */
const ofOneSyncOf = (syncMs: number): number => (syncMs < 0.5 ? 1.5 : 1.3)

/** Processor time is told beside the ratio: it moves less on a machine that has other work. */
const cost = (ours: Sample, theirs: Sample): string =>
  ours.serverMicros && theirs.serverMicros
    ? `; by processor time ${(theirs.serverMicros / ours.serverMicros).toFixed(2)}`
    : ''

/** `syncMs`: what one fsync of this disk takes. */
export function tableGoals(all: readonly Measured[], syncMs: number): Goal[] {
  const ours = (operation: Operation, connections: number) =>
    find(all, OURS, operation, connections)

  function ofLimit(
    factor: number,
    operation: Operation,
    connections: number,
    storing = SQLITE,
  ): Goal[] {
    const sample = ours(operation, connections)
    const limit = limitOf(all, operation, connections, storing)
    if (!sample || !limit) return []
    const ratio = sample.perSecond / limit
    const measured = `${ratio.toFixed(2)} (${Math.round(sample.perSecond)}/s of ${Math.round(limit)}/s)`
    const by = storing === SQLITE ? '' : ` by ${storing}`
    const goal = `${operation}: ${factor} of the limit${by}, ${connections} connections`
    return [{ goal, measured, met: ratio >= factor }]
  }

  function ofEtcd(factor: number, operation: Operation, connections: number): Goal[] {
    const [a, b] = [ours(operation, connections), find(all, ETCD, operation, connections)]
    if (!a || !b) return []
    const ratio = a.perSecond / b.perSecond
    const rates = `${Math.round(a.perSecond)}/s to ${Math.round(b.perSecond)}/s`
    const measured = `${ratio.toFixed(2)} (${rates}${cost(a, b)})`
    const goal = `${operation}: ${factor} times etcd, ${connections} connections`
    return [{ goal, measured, met: ratio >= factor }]
  }

  function ofOneSync(): Goal[] {
    const sample = ours('update', 1)
    if (!sample) return []
    const ratio = sample.p50 / syncMs
    const most = ofOneSyncOf(syncMs)
    const parts = [BARE, SQLITE].flatMap((name) => {
      const alone = find(all, name, 'update', 1)
      return alone ? [`; ${name} ${alone.p50.toFixed(2)} ms`] : []
    })
    const measured = `${ratio.toFixed(2)} (${sample.p50.toFixed(2)} ms, one fsync ${syncMs.toFixed(2)} ms${parts.join('')})`
    const goal = `update, one connection: p50 within ${most} of one fsync`
    return [{ goal, measured, met: ratio <= most }]
  }

  function ofHotKey(): Goal[] {
    const [hot, update] = [ours('hot', HOT_CONNECTIONS), ours('update', HOT_CONNECTIONS)]
    if (!hot) return []
    const latency: Goal = {
      goal: `hot key, ${HOT_CONNECTIONS} connections: p99 under ${MAX_HOT_P99_MS} ms`,
      measured: `${hot.p99.toFixed(1)} ms`,
      met: hot.p99 < MAX_HOT_P99_MS,
    }
    if (!hot.serverMicros || !update?.serverMicros) return [latency]
    return [
      latency,
      {
        goal: 'hot key: a loser’s answer cheaper than a winner’s',
        measured: `${hot.serverMicros.toFixed(0)} µs where most lose, ${update.serverMicros.toFixed(0)} µs where all win`,
        met: hot.serverMicros < update.serverMicros,
      },
    ]
  }

  return [
    ...ofLimit(0.85, 'read', READ_CONNECTIONS),
    ...ofLimit(0.6, 'create', WRITE_CONNECTIONS),
    ...ofLimit(0.5, 'update', WRITE_CONNECTIONS),
    ...ofLimit(0.45, 'create', WRITE_CONNECTIONS, PLAIN_ROW),
    ...ofLimit(0.45, 'update', WRITE_CONNECTIONS, PLAIN_ROW),
    ...ofEtcd(3.5, 'create', WRITE_CONNECTIONS),
    ...ofEtcd(3.5, 'update', WRITE_CONNECTIONS),
    ...ofOneSync(),
    ...ofHotKey(),
  ]
}
