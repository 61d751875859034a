/** What this engine does with one home's log, without waiting, on the writer's thread. */
import type { DatabaseSync } from 'node:sqlite'
import type { Actor, Begun, HeadsAnswer } from '../../batches.ts'
import type { Content } from '../../change.ts'
import type * as waist from '../../home-log.ts'
import type { HomeLog, Loaded, Place, Saving } from '../../home-log.ts'
import type { Identity } from '../../port/identity.ts'
import type { HomeBounds } from '../../port/store.ts'
import type { Then } from '../../verbs/states-before.ts'
import { prepare, prepareTuples } from '../engine/connection.ts'
import { atOnce } from '../engine/run.ts'
import type { Tally } from '../engine/totals.ts'
import type { Refuse } from '../identities.ts'
import { type Home, prepareCountWrites, prepareHomes, prepareReplacing } from './homes.ts'
import { prepareAppend, prepareDrop, prepareForgetEvents, prepareIndex } from './log.ts'
import { bytesOf, preparePrune } from './prune.ts'
import { type KeyState, prepareKeyState, prepareSaveKeyState } from './states.ts'
import type { prepareSweep } from './sweep.ts'
import { prepareUnfinished } from './unfinished.ts'
import { type KeptVersionRow, prepareChain, prepareContent, preparePast } from './versions.ts'

type Sweep = ReturnType<typeof prepareSweep>

const homeOf = (home: waist.Home): Home => home as Home

/** Those that are found, with what was found. */
const found = <K, V>(keys: readonly K[], find: (key: K) => V | undefined): (readonly [K, V])[] =>
  keys.flatMap((key) => {
    const value = find(key)
    return value === undefined ? [] : [[key, value] as const]
  })

/** States and versions are read once they are asked for. */
function prepareLoad(db: DatabaseSync, { versions }: HomeBounds) {
  const select = prepareKeyState(db)
  const content = prepareContent(db)
  const past = preparePast(db, versions)
  return (agentId: string): Loaded => {
    const states = new Map<string, KeyState | undefined>()
    function head(key: string): KeyState | undefined {
      if (!states.has(key)) states.set(key, select(agentId, key))
      return states.get(key)
    }
    return {
      head,
      content: (key) => content(head(key)?.n ?? null) as Content,
      past: (key, version) => past(head(key)?.n ?? null, version),
    }
  }
}

/** Appends entries; their rows follow on each other. */
function prepareAppendAll(db: DatabaseSync, { events }: HomeBounds) {
  const append = prepareAppend(db, events)
  const replacing = prepareReplacing(db)
  return ({ agentId, before, after, entries, states, stored }: Saving) => {
    let home: Home = { ...homeOf(after), lastEvent: before.lastEvent, head: before.head }
    for (const key of states.keys()) home = replacing(home, stored(key) as KeyState | undefined)
    // The rows of one write follow on each other, as its events do.
    let behind = 0
    const rowAt = (place: Place | null): number | null => {
      if (!place) return null
      return 'row' in place ? place.row : place.event + behind
    }
    for (const entry of entries) {
      const appended = append(agentId, home, entry, rowAt(entry.made?.previous ?? null))
      home = appended.home
      behind = appended.n - entry.id
    }
    return { home, rowAt }
  }
}

function prepareSave(db: DatabaseSync, tally: Tally, bounds: HomeBounds, sweep: Sweep) {
  const homes = prepareHomes(db)
  const appendAll = prepareAppendAll(db, bounds)
  const saveState = prepareSaveKeyState(db)
  const prune = preparePrune(db, bounds)
  const countWrites = prepareCountWrites(db)
  return (saving: Saving): void => {
    const { agentId, before, states, stored, now, writes } = saving
    const appended = appendAll(saving)
    let { home } = appended
    for (const [key, state] of states) {
      const n = appended.rowAt(state.place)
      const { count, freed, oldest } = prune.memory(agentId, home, { n, count: state.count })
      const saved = count === state.count ? state : { ...state, count }
      saveState(agentId, key, saved, { n, isNew: stored(key) === undefined })
      sweep.made(count, oldest)
      if (freed > 0) home = { ...home, history: home.history - freed }
    }
    home = prune.home(agentId, home, bytesOf(homeOf(before)))
    homes.save(agentId, countWrites(agentId, home, now, writes))
    tally.created(home.memories - before.memories)
  }
}

/** What is in rows of the log. */
function prepareRows(db: DatabaseSync): Pick<HomeLog, 'texts' | 'imported'> {
  const typeAt = prepareTuples<[type: string | null]>(db, 'SELECT event FROM log WHERE n = ?')
  const textAt = prepare<Then>(
    db,
    `SELECT memory_id AS id, created_at AS createdAt, text, metadata FROM log
     WHERE n = ? AND text IS NOT NULL`,
  )
  return {
    texts: (_, rows) => atOnce(() => new Map(found(rows, (n) => textAt.get(n)))),
    imported: (_, rows) =>
      atOnce(() => new Set(rows.filter((n) => typeAt.get(n)?.[0] === 'import'))),
  }
}

/** The versions of a memory, and their removal. */
function prepareVersions(db: DatabaseSync): Pick<HomeLog, 'chain' | 'leftSince' | 'remove'> {
  const stateAt = prepareKeyState(db)
  const chain = prepareChain(db)
  const drop = prepareDrop(db)
  const link = prepare(db, 'UPDATE log SET previous = ? WHERE n = ?')
  return {
    chain: (agentId, key) => atOnce(() => [...chain(stateAt(agentId, key)?.n ?? null, 0)]),
    // The `change` of every key is known.
    leftSince: () => atOnce(() => new Set()),
    remove: (agentId, home, gone, relinked) =>
      atOnce(() => {
        for (const row of gone) drop(agentId, homeOf(home), row as KeptVersionRow)
        for (const { n, previous } of relinked) link.run(previous, n)
      }),
  }
}

function prepareRecord(db: DatabaseSync): Pick<HomeLog, 'begun' | 'record'> {
  const unfinished = prepareUnfinished(db)
  return {
    begun: (agentId) =>
      atOnce(() => {
        const going = unfinished.of(agentId)
        return going && { event: going.event, holder: '' }
      }),
    record: (agentId, { begin, begun, end }, event) =>
      atOnce((): Begun => {
        const rollback = begin?.type === 'rollback' ? begin.wanted : undefined
        if (begin && !end) unfinished.begin(agentId, { event, rollback })
        if (begun && end) unfinished.end(agentId)
        return begun ?? { event, holder: '' }
      }),
  }
}

export function prepareHomeLog(
  db: DatabaseSync,
  refuse: Refuse,
  tally: Tally,
  bounds: HomeBounds,
  sweep: Sweep,
): HomeLog {
  const homes = prepareHomes(db)
  const stateAt = prepareKeyState(db)
  const load = prepareLoad(db, bounds)
  const save = prepareSave(db, tally, bounds, sweep)
  return {
    ...prepareRows(db),
    ...prepareVersions(db),
    ...prepareRecord(db),
    lock: (actor: Actor) =>
      atOnce(() => {
        const refused = 'by' in actor ? undefined : refuse(actor)
        if (refused) return refused
        sweep.goOn()
        return { outcome: 'locked', home: homes.read(actor.agentId) } as const
      }),
    load: (agentId) => atOnce(() => load(agentId)),
    states: (agentId, keys) => atOnce(() => new Map(found(keys, (key) => stateAt(agentId, key)))),
    save: (saving) => atOnce(() => save(saving)),
  }
}

export function prepareReadHeads(db: DatabaseSync, refuse: Refuse) {
  const homes = prepareHomes(db)
  const stateAt = prepareKeyState(db)
  return (identity: Identity, keys: readonly string[]): HeadsAnswer => {
    const refused = refuse(identity)
    if (refused) return refused
    const { agentId } = identity
    const heads = new Map(found(keys, (key) => stateAt(agentId, key)))
    return { outcome: 'heads', home: homes.read(agentId), heads }
  }
}

/** Continues pruning a home over its limits; true while there is more. */
export function preparePruneHome(db: DatabaseSync, bounds: HomeBounds) {
  const homes = prepareHomes(db)
  const prune = preparePrune(db, bounds)
  const index = prepareIndex(db)
  const forgetEvents = prepareForgetEvents(db)
  return (agentId: string): boolean => {
    const before = homes.read(agentId)
    const pruned = prune.home(agentId, before, bytesOf(before))
    const isOver = bounds.events > 0 && pruned.lastEvent - pruned.firstEvent >= bounds.events
    // Events are forgotten as far as they are in the index.
    const after = isOver ? forgetEvents(agentId, index(agentId, pruned), bounds.events) : pruned
    if (after === before) return false
    homes.save(agentId, after)
    const isLess = after.deleted < before.deleted || bytesOf(after) < bytesOf(before)
    return isLess || after.firstEvent > before.firstEvent
  }
}
