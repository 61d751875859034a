/**
 * Rolls a home back: the log tells what changed since, and the versions of then become the next
 * ones.
 */
import {
  type Back,
  type BatchAnswer,
  type BatchStore,
  clockFrom,
  fitsOne,
  type Wanted,
  type Weight,
} from './batches.ts'
import { followBrought, ROLLBACK } from './bring.ts'
import { broughtBack, changedUntil, fatesOf, weightOf } from './lines.ts'
import { StoreUnavailable } from './port/errors.ts'
import type { EventStore } from './port/events.ts'
import type { Identity, Refused } from './port/identity.ts'
import type { HomeBounds } from './port/store.ts'
import type { RollbackAnswer, TransferStore } from './port/transfer.ts'
import type { Settle } from './settle.ts'
import { takeBackAll } from './take-back.ts'
import type { Line } from './verbs/states-before.ts'

interface Foreseen {
  readonly outcome: 'foreseen'
  readonly answer: Extract<RollbackAnswer, { outcome: 'rolled_back' }>
  readonly backs: readonly { readonly back: Back; readonly weight: Weight }[]
}

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
  lines: readonly Line[],
  now: number,
): Promise<Foreseen | Extract<RollbackAnswer, { outcome: 'over_quota' }> | Refused> {
  const start = await store.readHeads(identity, [])
  if (start.outcome !== 'heads') return start
  const following = followBrought(start.home, ROLLBACK, bounds)
  const backs: { back: Back; weight: Weight }[] = []
  const skipped: string[] = []
  let unchanged = 0
  for await (const fates of fatesOf(store, identity.agentId, lines)) {
    unchanged += fates.unchanged
    skipped.push(...fates.skipped)
    const { brought } = broughtBack(fates.back)
    const keys = brought.map(({ key }) => key)
    const found = await store.readHeads(identity, keys)
    if (found.outcome !== 'heads') return found
    for (const each of brought) following.meet(each, found.heads.get(each.key), now)
    backs.push(...fates.back.map(({ back, was }) => ({ back, weight: weightOf(was) })))
  }
  if (following.refusal()) return { outcome: 'over_quota' }
  const { imported, deleted = 0 } = following.answer()
  const changes = backs.map(({ back: { key, was } }) => ({ key, was }))
  const told = { restored: imported - deleted, deleted, unchanged, skipped, changes }
  return { outcome: 'foreseen', answer: { outcome: 'rolled_back', ...told }, backs }
}

const failedOf = (answer: Exclude<BatchAnswer, { outcome: 'imported' }>): RollbackAnswer => {
  if (answer.outcome === 'lost') throw new StoreUnavailable('another import or rollback goes on')
  if (answer.outcome === 'conflict') throw new Error('a rollback has no conflicts')
  return answer
}

/** In one transaction. */
async function writeAtOnce(
  { store }: RollbackParts,
  identity: Identity,
  wanted: Wanted,
  { answer, backs }: Foreseen,
  now: number,
): Promise<RollbackAnswer> {
  const begin = { type: 'rollback', wanted, parts: backs.length } as const
  const back = backs.map((each) => each.back)
  const batch = { way: ROLLBACK, begin, back, end: 'end_rollback' } as const
  const written = await store.writeBatch(identity, batch, now)
  if (written.outcome !== 'imported') return failedOf(written)
  const { imported, deleted = 0, taken } = written
  return {
    ...{ ...answer, restored: imported - deleted, deleted, changes: taken?.changes ?? [] },
    skipped: [...answer.skipped, ...(taken?.skipped ?? [])],
  }
}

/** From the event that says that it began, which others may write after and not before. */
async function write(
  { store }: RollbackParts,
  identity: Identity,
  wanted: Wanted,
  parts: number,
  clock: () => number,
): Promise<RollbackAnswer> {
  const { agentId } = identity
  const begin = { type: 'rollback', wanted, parts } as const
  const written = await store.writeBatch(identity, { way: ROLLBACK, begin, back: [] }, clock())
  if (written.outcome !== 'imported') return failedOf(written)
  const { begun } = written
  const lines = await changedUntil(store, agentId, begun.event - 1, wanted)
  const due = { unless: 'changed_since', event: begun.event } as const
  const going = { begun, due, end: 'end_rollback' } as const
  const taken = await takeBackAll(store, identity, going, lines, clock)
  if (taken.outcome === 'lost') throw new StoreUnavailable('another process finishes the rollback')
  if (taken.outcome !== 'taken') return taken
  await store.prune(agentId).catch(() => {})
  return { ...taken, outcome: 'rolled_back' }
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
      if (dryRun || foreseen.backs.length === 0) return foreseen.answer
      const isOne = fitsOne(foreseen.backs.map(({ weight }) => weight))
      if (isOne) return writeAtOnce(parts, identity, wanted, foreseen, now)
      const clock = clockFrom(now, stopwatch)
      return write(parts, identity, wanted, foreseen.backs.length, clock)
    })
