/**
 * Rolls a home back: the log tells what changed since, and the versions of then become the next
 * ones.
 */
import {
  type BatchStore,
  type Begun,
  clockFrom,
  portionsOf,
  type TakenLines,
  type Wanted,
} from './batches.ts'
import { followBrought, ROLLBACK } from './bring.ts'
import { sizeOf } from './change.ts'
import { broughtBack, changedUntil } from './lines.ts'
import { StoreUnavailable } from './port/errors.ts'
import type { Identity, Refused } from './port/home.ts'
import type { EventStore } from './port/keeping/events.ts'
import type { HomeBounds } from './port/store.ts'
import type { RollbackAnswer, TransferStore } from './port/transfer.ts'
import type { Settle } from './settle.ts'
import type { Line } from './verbs/states-before.ts'

/** Lines that are looked up at once; more would delay others. */
const LINES_AT_ONCE = 4

interface Foreseen {
  readonly outcome: 'foreseen'
  readonly answer: Extract<RollbackAnswer, { outcome: 'rolled_back' }>
  /** Those that are to be changed, and the bytes that each gets. */
  readonly changed: readonly { readonly line: Line; readonly bytes: number }[]
}

const together = (a: TakenLines, b: TakenLines): TakenLines => ({
  unchanged: a.unchanged + b.unchanged,
  skipped: [...a.skipped, ...b.skipped],
  changes: [...a.changes, ...b.changes],
})

const NO_LINES: TakenLines = { unchanged: 0, skipped: [], changes: [] }

export interface RollbackParts {
  readonly store: BatchStore
  readonly bounds: HomeBounds
  readonly settle: Settle
  readonly eventsAfter: EventStore['eventsAfter']
}

/** What the rollback would do now. */
async function foresee(
  { store, bounds }: RollbackParts,
  identity: Identity,
  all: readonly Line[],
  now: number,
): Promise<Foreseen | Extract<RollbackAnswer, { outcome: 'over_quota' }> | Refused> {
  const { agentId } = identity
  let lines = NO_LINES
  const changed: { line: Line; bytes: number }[] = []
  const start = await store.readHeads(identity, [])
  if (start.outcome !== 'heads') return start
  const following = followBrought(start.home, ROLLBACK, bounds)
  for (let at = 0; at < all.length; at += LINES_AT_ONCE) {
    const some = all.slice(at, at + LINES_AT_ONCE)
    const states = await store.statesBefore(agentId, some)
    const back = broughtBack(states)
    const keys = back.brought.map(({ key }) => key)
    const found = await store.readHeads(identity, keys)
    if (found.outcome !== 'heads') return found
    for (const each of back.brought) {
      following.meet(each, found.heads.get(each.key), now)
      const line = some.find(({ key }) => key === each.key)
      const { content } = each.versions[0] ?? {}
      if (line) changed.push({ line, bytes: content ? sizeOf(content) : 0 })
    }
    lines = together(lines, back.lines)
  }
  if (following.refusal()) return { outcome: 'over_quota' }
  const { imported, deleted = 0 } = following.answer()
  const told = { restored: imported - deleted, deleted, ...lines }
  return { outcome: 'foreseen', answer: { outcome: 'rolled_back', ...told }, changed }
}

async function write(
  { store }: RollbackParts,
  identity: Identity,
  wanted: Wanted,
  { answer, changed }: Foreseen,
  clock: () => number,
): Promise<RollbackAnswer> {
  const parts = changed.length
  let begun: Begun | undefined
  let [restored, deleted] = [0, 0]
  let { unchanged, skipped } = answer
  const changes = []
  const weigh = ({ bytes }: { readonly bytes: number }) => ({ versions: 1, bytes })
  for await (const { items, isFirst, isLast } of portionsOf(changed, weigh)) {
    const batch = {
      ...{ way: ROLLBACK, begun, lines: items.map(({ line }) => line) },
      begin: isFirst ? ({ type: 'rollback', wanted, parts } as const) : undefined,
      end: isLast ? ('end_rollback' as const) : undefined,
      due: begun && ({ unless: 'changed_since', event: begun.event } as const),
    }
    const written = await store.writeBatch(identity, batch, clock())
    if (written.outcome === 'lost') throw new StoreUnavailable('another process finishes it')
    if (written.outcome === 'conflict') throw new Error('a rollback has no conflicts')
    if (written.outcome !== 'imported') return written
    const { imported, lines = NO_LINES } = written
    begun = written.begun
    deleted += written.deleted ?? 0
    restored += imported - (written.deleted ?? 0)
    unchanged += lines.unchanged
    skipped = [...skipped, ...lines.skipped]
    changes.push(...lines.changes)
  }
  await store.prune(identity.agentId).catch(() => {})
  return { outcome: 'rolled_back', restored, deleted, unchanged, skipped, changes }
}

export const rollBackVerb =
  (parts: RollbackParts, stopwatch: () => number): TransferStore['rollBack'] =>
  (identity, { dryRun, ...wanted }, now) =>
    parts.settle.inTurn(identity.agentId, async () => {
      const { store, eventsAfter } = parts
      const { to } = wanted
      const log = await eventsAfter(identity, to, 1)
      if (log.outcome !== 'events') return log
      if (to > log.last) return { outcome: 'no_event' }
      if (to + 1 < log.first) return { outcome: 'event_gone', first: log.first }
      const lines = await changedUntil(store, identity.agentId, log.last, wanted)
      const foreseen = await foresee(parts, identity, lines, now)
      if (foreseen.outcome !== 'foreseen') return foreseen
      if (dryRun || foreseen.changed.length === 0) return foreseen.answer
      return write(parts, identity, wanted, foreseen, clockFrom(now, stopwatch))
    })
