/** Batches of imports and rollbacks in the writer, and what they need to know before. */
import type { DatabaseSync } from 'node:sqlite'
import { authorOf } from '../../answers.ts'
import type { Actor, Back, Batch, BatchAnswer, Beginning, Due, HeadsAnswer } from '../../batches.ts'
import { followBrought } from '../../bring.ts'
import type { Effect } from '../../change.ts'
import { broughtBack } from '../../lines.ts'
import type { Identity } from '../../port/home.ts'
import type { EventType } from '../../port/keeping/events.ts'
import type { HomeBounds } from '../../port/store.ts'
import { rollbackText } from '../../rows.ts'
import type { Then } from '../../verbs/states-before.ts'
import { prepare, prepareTuples } from '../engine/connection.ts'
import type { Tally } from '../engine/totals.ts'
import type { Refuse } from '../identities.ts'
import { type OpenHome, prepareApply, type Sweep } from './changes.ts'
import { prepareCountWrites, prepareHomes } from './homes.ts'
import { prepareAppend, prepareFile, prepareGiveUp } from './log.ts'
import { bytesOf, preparePrune } from './prune.ts'
import { type KeyState, prepareKeyState } from './states.ts'
import { prepareUnfinished } from './unfinished.ts'

export function prepareReadHeads(db: DatabaseSync, refuse: Refuse) {
  const homes = prepareHomes(db)
  const stateAt = prepareKeyState(db)
  return (identity: Identity, keys: readonly string[]): HeadsAnswer => {
    const refused = refuse(identity)
    if (refused) return refused
    const { agentId } = identity
    const found = keys.flatMap((key) => {
      const head = stateAt(agentId, key)
      return head ? [[key, head] as const] : []
    })
    return { outcome: 'heads', home: homes.read(agentId), heads: new Map(found) }
  }
}

/** What is still to be taken back, and what is in its rows. */
function prepareTakeBack(db: DatabaseSync) {
  const typeAt = prepareTuples<[event: EventType | null]>(db, 'SELECT event FROM log WHERE n = ?')
  const textAt = prepare<Then>(
    db,
    `SELECT memory_id AS id, created_at AS createdAt, text, metadata FROM log
     WHERE n = ? AND text IS NOT NULL`,
  )
  function isDue(state: KeyState | undefined, { unless, event }: Due): boolean {
    if (unless === 'changed_since') return !state || state.change < event
    if (!state || state.n === null || state.change < event) return false
    return typeAt.get(state.n)?.[0] === 'import'
  }
  return (
    back: readonly Back[],
    due: Due | undefined,
    stateAt: (key: string) => KeyState | undefined,
  ) =>
    broughtBack(
      back
        .filter(({ key }) => !due || isDue(stateAt(key), due))
        .map((each) => ({ back: each, was: each.n === null ? undefined : textAt.get(each.n) })),
      due,
    )
}

function subjectOf(begin: Beginning, effects: readonly Effect[], isWhole: boolean) {
  if (begin.type === 'begin_import') return undefined
  return rollbackText({ to: begin.wanted.to, parts: isWhole ? effects.length : begin.parts })
}

export function prepareBatches(
  db: DatabaseSync,
  refuse: Refuse,
  tally: Tally,
  bounds: HomeBounds,
  sweep: Sweep,
) {
  const homes = prepareHomes(db)
  const unfinished = prepareUnfinished(db)
  const append = prepareAppend(db, bounds.events)
  const { stateAt, carryOut, prune } = prepareApply(db, bounds, sweep)
  const countWrites = prepareCountWrites(db)
  const takeBack = prepareTakeBack(db)

  function log(opened: OpenHome, event: EventType, at: number, key?: string): void {
    const { agentId, by, home } = opened
    opened.home = append(agentId, home, { event, key, by, at }).home
  }

  return (actor: Actor, batch: Batch, now: number): BatchAnswer => {
    const isSettling = 'by' in actor
    const refused = isSettling ? undefined : refuse(actor)
    if (refused) return refused
    const { agentId } = actor
    const { way, begin, begun, end, due } = batch
    if (unfinished.of(agentId)?.event !== begun?.event) return { outcome: 'lost' }
    sweep.goOn()
    const home = homes.read(agentId)
    const opened: OpenHome = {
      ...{ agentId, home, states: new Map() },
      by: isSettling ? actor.by : authorOf(actor),
    }
    const back = batch.back && takeBack(batch.back, due, (key) => stateAt(opened, key))
    const following = followBrought(home, way, bounds)
    const brought = back?.brought ?? batch.brought ?? []
    const effects = brought.flatMap(
      (each) => following.meet(each, stateAt(opened, each.key), now) ?? [],
    )
    // What has begun to be taken back is taken back, even if others have used the room meanwhile.
    const refusal = way.isRollback ? undefined : following.refusal()
    if (refusal) return refusal

    opened.home = following.ledger()
    const event = begun?.event ?? home.lastEvent + 1
    if (begin) log(opened, begin.type, now, subjectOf(begin, effects, end !== undefined))
    if (begin && !end) {
      const rollback = begin.type === 'rollback' ? begin.wanted : undefined
      unfinished.begin(agentId, { event, rollback })
    }
    carryOut(opened, effects, now)
    if (end) log(opened, end, now)
    if (end && begun) unfinished.end(agentId)
    const after = prune(opened, home)
    homes.save(agentId, countWrites(agentId, after, now, effects.length))
    tally.created(after.memories - home.memories)
    const answer = { ...following.answer(), begun: { event, holder: '' } }
    return back ? { ...answer, taken: back.taken } : answer
  }
}

/** Continues pruning a home over its limits; true while there is more. */
export function preparePruneHome(db: DatabaseSync, bounds: HomeBounds) {
  const homes = prepareHomes(db)
  const prune = preparePrune(db, bounds)
  const file = prepareFile(db)
  const giveUp = prepareGiveUp(db)
  return (agentId: string): boolean => {
    const before = homes.read(agentId)
    const pruned = prune.home(agentId, before, bytesOf(before))
    const isOver = bounds.events > 0 && pruned.lastEvent - pruned.firstEvent >= bounds.events
    // Events are given up as far as they are in the index.
    const after = isOver ? giveUp(agentId, file(agentId, pruned), bounds.events) : pruned
    if (after === before) return false
    homes.save(agentId, after)
    const isLess = after.deleted < before.deleted || bytesOf(after) < bytesOf(before)
    return isLess || after.firstEvent > before.firstEvent
  }
}
