/** Changes of memories in the writer: each creates a version, and the memory points to it. */
import type { DatabaseSync } from 'node:sqlite'
import { authorOf, writeAnswerOf } from '../../answers.ts'
import { type Content, type Effect, isPinned, sizeOf, textFateOf } from '../../change.ts'
import { plan, type Stored } from '../../plan.ts'
import type { Author, Identity } from '../../port/home.ts'
import type {
  AnswerBound,
  Change,
  ChangesAnswer,
  Memory,
  MemoryWrite,
  WriteAnswer,
} from '../../port/keeping/memories.ts'
import type { HomeBounds } from '../../port/store.ts'
import type { KeptVersion } from '../../port/transfer.ts'
import { vectorFates } from '../../verbs/kept-vectors.ts'
import { prepareVerbs } from '../engine/run.ts'
import type { Tally } from '../engine/totals.ts'
import type { Refuse } from '../identities.ts'
import { type Home, prepareCountWrites, prepareHomes, prepareReplacing } from './homes.ts'
import { type Entry, prepareAppend } from './log.ts'
import { bytesOf, preparePrune } from './prune.ts'
import {
  afterDelete,
  type KeyState,
  prepareKeyState,
  prepareSaveKeyState,
  type Saved,
} from './states.ts'
import type { prepareSweep } from './sweep.ts'
import { prepareContent, preparePast } from './versions.ts'

/** A home during one call: its rows are read once until they change. */
export interface OpenHome {
  readonly agentId: string
  readonly by: Author
  readonly states: Map<string, KeyState | undefined>
  home: Home
}

function prepareOpenHome(db: DatabaseSync, { versions }: HomeBounds) {
  const select = prepareKeyState(db)
  const content = prepareContent(db)
  const past = preparePast(db, versions)

  const stateAt = ({ agentId, states }: OpenHome, key: string): KeyState | undefined => {
    if (!states.has(key)) states.set(key, select(agentId, key))
    return states.get(key)
  }

  return {
    stateAt,
    storedFor: (opened: OpenHome): Stored => ({
      head: (key) => stateAt(opened, key),
      content: (key) => content(stateAt(opened, key)?.n ?? null) as Content,
      past: (key, version) => past(stateAt(opened, key)?.n ?? null, version),
    }),
  }
}

type Happening = Omit<Entry, 'by'>
type Saving = Extract<Effect, { effect: 'keep' }>
type Deleting = Extract<Effect, { effect: 'delete' }>
type Bringing = Extract<Effect, { effect: 'bring' }>

type Prune = ReturnType<typeof preparePrune>
export type Sweep = ReturnType<typeof prepareSweep>

/** Saves the new state of a key, and prunes versions behind it. */
function prepareSaveChange(db: DatabaseSync, prune: Prune, sweep: Sweep) {
  const saveState = prepareSaveKeyState(db)
  return (opened: OpenHome, key: string, state: Saved, isNew: boolean): void => {
    const { count, freed, oldest } = prune.memory(opened.agentId, opened.home, state)
    saveState(opened.agentId, key, { ...state, count }, isNew)
    sweep.made(count, oldest)
    opened.states.delete(key)
    opened.home = { ...opened.home, history: opened.home.history - freed }
  }
}

/** Logs a change of a key; returns the row's number. */
function prepareLog(db: DatabaseSync, append: ReturnType<typeof prepareAppend>) {
  const replacing = prepareReplacing(db)
  return (opened: OpenHome, before: KeyState | undefined, entry: Happening): number => {
    const home = replacing(opened.home, before)
    const appended = append(opened.agentId, home, { ...entry, by: opened.by })
    opened.home = appended.home
    return appended.n
  }
}

/** Versions as they were, of a key that is new. */
const prepareBring =
  (append: ReturnType<typeof prepareAppend>, save: ReturnType<typeof prepareSaveChange>) =>
  (opened: OpenHome, { key, versions, ...marked }: Bringing, at: number): void => {
    const { agentId, by } = opened
    // All but the newest can be pruned from now on.
    const oldest = Math.min(opened.home.oldest, opened.home.lastEvent + 1)
    opened.home = { ...opened.home, oldest }
    let n: number | null = null
    for (const each of versions) {
      const { id, version, operation, createdAt, updatedAt, content = null } = each
      const madeAs = each.madeAs === key ? undefined : each.madeAs
      const asItWas = { author: each.by ? JSON.stringify(each.by) : null, updatedAt, madeAs }
      const made = { operation, previous: n, id, createdAt, content, asItWas }
      const appended = append(agentId, opened.home, { event: 'import', key, version, at, by, made })
      opened.home = appended.home
      n = appended.n
    }
    const { id, version, createdAt, updatedAt, content } = versions.at(-1) as KeptVersion
    const change = opened.home.lastEvent
    const facts = { id, version, createdAt, updatedAt, change, count: versions.length, run: 0, n }
    const pinned = content !== undefined && isPinned(content.metadata)
    const marks = { pinned, protected: marked.protected, deleted: content === undefined }
    save(opened, key, { ...facts, ...marks, size: content ? sizeOf(content) : 0 }, true)
  }

export function prepareApply(db: DatabaseSync, bounds: HomeBounds, sweep: Sweep) {
  const { stateAt, storedFor } = prepareOpenHome(db, bounds)
  const append = prepareAppend(db, bounds.events)
  const prune = preparePrune(db, bounds)
  const save = prepareSaveChange(db, prune, sweep)
  const log = prepareLog(db, append)
  const { vectorsFollow } = prepareVerbs(db, vectorFates)

  function keep(opened: OpenHome, { memory, operation, size, left, ...marked }: Saving): void {
    const { key, id, version, createdAt, updatedAt } = memory
    const before = stateAt(opened, left?.key ?? key)
    const isNew = stateAt(opened, key) === undefined
    const made = { operation, previous: before?.n ?? null, id, createdAt, content: memory }
    const entry = { event: operation, key, from: left?.key, version, at: updatedAt, made }
    const n = log(opened, before, entry)
    const change = opened.home.lastEvent
    const count = (before?.count ?? 0) + 1
    const pinned = isPinned(memory.metadata)
    const run = left || !before ? 0 : before.run + 1
    const times = { version, createdAt, updatedAt, change }
    const isProtected = marked.protected ?? before?.protected ?? false
    const marks = { pinned, protected: isProtected, deleted: false }
    save(opened, key, { ...times, ...marks, id, size, count, run, n }, isNew)
    if (!left || !before) return
    const remains = { ...afterDelete(before, left.deleted), n: null, count: 0, run: 0, change }
    save(opened, left.key, remains, false)
  }

  function remove(opened: OpenHome, { key, deleted }: Deleting): void {
    const before = stateAt(opened, key)
    if (!before) return
    const { version, deletedAt: at } = deleted
    const { id, createdAt, n: previous, count, run } = before
    const made = { operation: 'delete' as const, previous, id, createdAt, content: null }
    const n = log(opened, before, { event: 'delete', key, version, at, made })
    const change = opened.home.lastEvent
    const state = { ...afterDelete(before, deleted), n, change, count: count + 1, run: run + 1 }
    save(opened, key, state, false)
  }

  const bring = prepareBring(append, save)

  return {
    stateAt,
    storedFor,
    /** Applies the effects; the home has the counters after them already. */
    carryOut(opened: OpenHome, effects: readonly Effect[], now: number): void {
      for (const effect of effects) {
        if (effect.effect === 'keep') keep(opened, effect)
        else if (effect.effect === 'delete') remove(opened, effect)
        else bring(opened, effect, now)
      }
      if (opened.home.vectors > 0) vectorsFollow(opened.agentId, effects.map(textFateOf))
    },
    /** The home without what is over its limits, since it held `was` bytes. */
    prune: ({ agentId, home }: OpenHome, was: Home): Home =>
      prune.home(agentId, home, bytesOf(was)),
  }
}

/** A saved memory without the text and metadata that its writer sent. */
export type Receipt = Pick<Memory, 'id' | 'version' | 'createdAt' | 'updatedAt'>

export type WriteResult =
  | { readonly outcome: 'saved'; readonly receipt: Receipt }
  | Exclude<WriteAnswer, { outcome: 'saved' }>

export function prepareChanges(
  db: DatabaseSync,
  refuse: Refuse,
  tally: Tally,
  bounds: HomeBounds,
  sweep: Sweep,
) {
  const homes = prepareHomes(db)
  const { storedFor, carryOut, prune } = prepareApply(db, bounds, sweep)
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
    const opened: OpenHome = { agentId, by: authorOf(identity), home, states: new Map() }
    const planned = plan(identity, changes, storedFor(opened), home, bounds, now, bound)
    if ('faults' in planned) return { outcome: 'unchanged', faults: planned.faults }
    const { effects, results, ledger } = planned
    if (effects.length > 0) {
      opened.home = ledger
      carryOut(opened, effects, now)
      const after = prune(opened, home)
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
