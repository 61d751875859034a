/** An import runs in many short transactions; the last one makes it visible. */
import { type FinishAnswer, importWhole } from '../../import-attempts.ts'
import { piecesOf } from '../../import-pieces.ts'
import type { Identity } from '../../port/home.ts'
import type { HomeBounds } from '../../port/store.ts'
import type { ImportAnswer, ImportOrder, ImportSource } from '../../port/transfer.ts'
import type { Connections } from '../engine/connections.ts'
import { type Grown, prune } from '../keeping/prune.ts'
import { beginImport, giveUpAhead, sweepAhead } from './ahead.ts'
import { type Finished, finishImport } from './finish.ts'
import { type Importing, stageImport } from './staging.ts'

type Asked = Omit<Importing, 'home'>

/** The token may have been revoked, or the agent erased, in the meantime. */
async function whyLost(
  connections: Connections,
  { identity, order }: Asked,
): Promise<FinishAnswer> {
  const begun = await beginImport(connections, identity, { ...order, dryRun: true })
  return begun.outcome === 'begun' ? { outcome: 'lost' } : begun
}

async function attempt(
  connections: Connections,
  source: ImportSource,
  asked: Asked,
  committed: () => void,
): Promise<Finished> {
  const begun = await beginImport(connections, asked.identity, asked.order)
  if (begun.outcome !== 'begun') return { answer: begun }
  const { home, ahead } = begun
  const writing = { connections, ahead, committed }
  if (ahead) committed()
  let isOver = false
  try {
    const staged = await stageImport(writing, piecesOf(source), { ...asked, home })
    if (staged.outcome === 'lost') return { answer: await whyLost(connections, asked) }
    if (staged.outcome === 'over_quota') return { answer: staged }
    const finished = await connections.transact((ask) =>
      finishImport(ask, asked, staged.steps, ahead),
    )
    isOver = finished.grown !== undefined
    return finished
  } finally {
    // If this fails, the rows are removed after some silence.
    if (ahead && !isOver) await giveUpAhead(connections, ahead, committed).catch(() => {})
  }
}

export function importVerb(connections: Connections, committed: () => void, bounds: HomeBounds) {
  return async (
    identity: Identity,
    source: ImportSource,
    order: ImportOrder,
    now: number,
  ): Promise<ImportAnswer> => {
    // A server of other homes may be down: the next import sweeps again.
    await sweepAhead(connections, committed).catch(() => {})
    let grown: Grown | undefined
    const answer = await importWhole(async (each) => {
      const asked = { identity, order: each, bounds, now }
      const finished = await attempt(connections, source, asked, committed)
      grown = finished.grown
      return finished.answer
    }, order)
    if (!grown) return answer
    committed()
    // The import is committed, so pruning may also happen later.
    await prune(connections.write, identity.agentId, grown, bounds).catch(() => {})
    return answer
  }
}
