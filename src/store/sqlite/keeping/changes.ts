/** Changes of memories in the writer: each creates a version, and the memory points to it. */
import type { DatabaseSync } from 'node:sqlite'
import { authorOf, writeAnswerOf } from '../../answers.ts'
import { type Content, type Effect, isPinned } from '../../change.ts'
import { type Plan, plan, type Stored } from '../../plan.ts'
import type { Identity } from '../../port/home.ts'
import type {
  AnswerBound,
  Change,
  ChangesAnswer,
  Memory,
  MemoryWrite,
  WriteAnswer,
} from '../../port/keeping/memories.ts'
import type { HomeBounds } from '../../port/store.ts'
import type { Tally } from '../engine/totals.ts'
import type { Refuse } from '../identities.ts'
import { type Home, prepareCountWrites, prepareHomes, prepareReplacing } from './homes.ts'
import { type Entry, prepareAppend } from './log.ts'
import { bytesOf, preparePrune } from './prune.ts'
import { afterDelete, prepareSaveStand, prepareStand, type Saved, type Stand } from './stands.ts'
import { prepareSweep } from './sweep.ts'
import { prepareContent, preparePast } from './versions.ts'

/** A home during one call: its rows are read once until they change. */
interface Desk {
  readonly agentId: string
  readonly author: string
  readonly stands: Map<string, Stand | undefined>
  home: Home
}

function prepareDesk(db: DatabaseSync, { versions }: HomeBounds) {
  const select = prepareStand(db)
  const content = prepareContent(db)
  const past = preparePast(db, versions)

  const standAt = ({ agentId, stands }: Desk, key: string): Stand | undefined => {
    if (!stands.has(key)) stands.set(key, select(agentId, key))
    return stands.get(key)
  }

  return {
    standAt,
    storedFor: (desk: Desk): Stored => ({
      head: (key) => standAt(desk, key),
      content: (key) => content(standAt(desk, key)?.n ?? null) as Content,
      past: (key, version) => past(standAt(desk, key)?.n ?? null, version),
    }),
  }
}

type Prune = ReturnType<typeof preparePrune>
type Sweep = ReturnType<typeof prepareSweep>

/** Saves the new state of a key, and prunes versions behind it. */
function prepareSettle(db: DatabaseSync, prune: Prune, sweep: Sweep) {
  const saveStand = prepareSaveStand(db)
  return (desk: Desk, key: string, stand: Saved, isNew: boolean): void => {
    const { count, freed, oldest } = prune.memory(desk.agentId, desk.home, stand)
    saveStand(desk.agentId, key, { ...stand, count }, isNew)
    sweep.made(count, oldest)
    desk.stands.delete(key)
    desk.home = { ...desk.home, history: desk.home.history - freed }
  }
}

function prepareApply(db: DatabaseSync, bounds: HomeBounds, sweep: Sweep) {
  const { standAt, storedFor } = prepareDesk(db, bounds)
  const append = prepareAppend(db, bounds.events)
  const prune = preparePrune(db, bounds)
  const save = prepareSettle(db, prune, sweep)
  const replacing = prepareReplacing(db)

  /** Returns the row's number. */
  function log(desk: Desk, before: Stand | undefined, entry: Omit<Entry, 'author'>): number {
    const home = replacing(desk.home, before)
    const appended = append(desk.agentId, home, { ...entry, author: desk.author })
    desk.home = appended.home
    return appended.n
  }

  function keep(desk: Desk, { memory, operation, size, left }: Effect & { effect: 'keep' }): void {
    const { key, id, version, createdAt, updatedAt } = memory
    const before = standAt(desk, left?.key ?? key)
    const isNew = standAt(desk, key) === undefined
    const made = { operation, previous: before?.n ?? null, id, createdAt, content: memory }
    const entry = { event: operation, key, from: left?.key, version, at: updatedAt, made }
    const n = log(desk, before, entry)
    const change = desk.home.lastEvent
    const count = (before?.count ?? 0) + 1
    const pinned = isPinned(memory.metadata)
    const run = left || !before ? 0 : before.run + 1
    const times = { version, createdAt, updatedAt, change }
    save(desk, key, { ...times, id, size, pinned, deleted: false, count, run, n }, isNew)
    if (!left || !before) return
    const remains = { ...afterDelete(before, left.deleted), n: null, count: 0, run: 0, change }
    save(desk, left.key, remains, false)
  }

  function remove(desk: Desk, { key, deleted }: Effect & { effect: 'delete' }): void {
    const before = standAt(desk, key)
    if (!before) return
    const { version, deletedAt: at } = deleted
    const { id, createdAt, n: previous, count, run } = before
    const made = { operation: 'delete' as const, previous, id, createdAt, content: null }
    const n = log(desk, before, { event: 'delete', key, version, at, made })
    const change = desk.home.lastEvent
    const stand = { ...afterDelete(before, deleted), n, change, count: count + 1, run: run + 1 }
    save(desk, key, stand, false)
  }

  return {
    storedFor,
    /** Applies the effects of the plan and returns the new counters. */
    carryOut(desk: Desk, { effects, ledger }: Plan<Home>): Home {
      const was = bytesOf(desk.home)
      desk.home = ledger
      for (const effect of effects) {
        if (effect.effect === 'keep') keep(desk, effect)
        else remove(desk, effect)
      }
      return prune.home(desk.agentId, desk.home, was)
    },
  }
}

/** A saved memory without the text and metadata that its writer sent. */
export type Receipt = Pick<Memory, 'id' | 'version' | 'createdAt' | 'updatedAt'>

export type WriteResult =
  | { readonly outcome: 'saved'; readonly receipt: Receipt }
  | Exclude<WriteAnswer, { outcome: 'saved' }>

export function prepareChanges(db: DatabaseSync, refuse: Refuse, tally: Tally, bounds: HomeBounds) {
  const homes = prepareHomes(db)
  const sweep = prepareSweep(db, bounds.versions)
  const { storedFor, carryOut } = prepareApply(db, bounds, sweep)
  const countWrites = prepareCountWrites(db)

  function changeMemories(
    identity: Identity,
    changes: readonly Change[],
    now: number,
    bound?: AnswerBound,
  ): ChangesAnswer {
    const refused = refuse(identity)
    if (refused) return refused
    sweep.goOn()
    const { agentId } = identity
    const home = homes.read(agentId)
    const author = JSON.stringify(authorOf(identity))
    const desk: Desk = { agentId, author, home, stands: new Map() }
    const planned = plan(changes, storedFor(desk), home, bounds, now, bound)
    if ('faults' in planned) return { outcome: 'unchanged', faults: planned.faults }
    const { effects, results } = planned
    if (effects.length > 0) {
      const after = carryOut(desk, planned)
      homes.save(agentId, countWrites(agentId, after, now, effects.length))
      tally.created(after.memories - home.memories)
    }
    return { outcome: 'changed', results }
  }

  return {
    changeMemories,
    writeMemory(identity: Identity, write: MemoryWrite, now: number): WriteResult {
      const answer = writeAnswerOf(changeMemories(identity, [{ ...write, verb: 'write' }], now))
      if (answer.outcome !== 'saved') return answer
      const { id, version, createdAt, updatedAt } = answer.memory
      return { outcome: 'saved', receipt: { id, version, createdAt, updatedAt } }
    },
  }
}
