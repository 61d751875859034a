/** The goals that the one table decides. */
import type { Operation, Sample } from './load/dialect.ts'
import type { Goal } from './result.ts'
import { BARE, find, type Measured } from './table.ts'

const OURS = 'agent-home'
const ETCD = 'etcd, JSON gateway'
const GATEWAY = 'agent-home, gateway'

export const READ_CONNECTIONS = 32
export const WRITE_CONNECTIONS = 64
const MAX_WRITE_P99_MS = 25

type Row = readonly [contestant: string, operation: Operation, connections: number]

export function tableGoals(all: readonly Measured[]): Goal[] {
  /** Processor time is told beside the ratio: it moves less on a machine that has other work. */
  const cost = (ours: Sample, theirs: Sample): string =>
    ours.serverMicros && theirs.serverMicros
      ? `; by processor time ${(theirs.serverMicros / ours.serverMicros).toFixed(2)}`
      : ''

  function atLeast(goal: string, factor: number, ours: Row, theirs: Row): Goal[] {
    const [a, b] = [find(all, ...ours), find(all, ...theirs)]
    if (!a || !b) return []
    const ratio = a.perSecond / b.perSecond
    const rates = `${Math.round(a.perSecond)}/s to ${Math.round(b.perSecond)}/s`
    const measured = `${ratio.toFixed(2)} (${rates}${cost(a, b)})`
    return [{ goal, measured, met: ratio >= factor }]
  }

  const reads: Row = [OURS, 'read', READ_CONNECTIONS]
  const writes: Row = [OURS, 'update', WRITE_CONNECTIONS]
  const creates: Row = [OURS, 'create', WRITE_CONNECTIONS]
  const posts: Row = [GATEWAY, 'create', WRITE_CONNECTIONS]
  const p99 = find(all, ...writes)?.p99
  return [
    ...atLeast('reads: 0.5 of bare, 32 connections', 0.5, reads, [BARE, 'read', READ_CONNECTIONS]),
    ...atLeast('durable compare-and-swap: 0.4 of bare, 64 connections', 0.4, writes, [
      BARE,
      'update',
      WRITE_CONNECTIONS,
    ]),
    ...atLeast('reads: 6 times etcd', 6, reads, [ETCD, 'read', READ_CONNECTIONS]),
    ...atLeast('writes: 6 times etcd', 6, writes, [ETCD, 'update', WRITE_CONNECTIONS]),
    ...(p99 === undefined
      ? []
      : [
          {
            goal: `writes: p99 under ${MAX_WRITE_P99_MS} ms, 64 connections`,
            measured: `${p99.toFixed(1)} ms`,
            met: p99 < MAX_WRITE_P99_MS,
          },
        ]),
    ...atLeast('gateway posts: as fast as memory writes', 1, posts, creates),
  ]
}
