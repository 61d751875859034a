/** What was staged becomes versions of the home, in the writer's one transaction. */
import type { DatabaseSync } from 'node:sqlite'
import { authorOf } from '../../answers.ts'
import { isPinned } from '../../change.ts'
import { type Fate, followImport, isKept, type Newest } from '../../import-plan.ts'
import type { Ledger } from '../../plan.ts'
import type { Identity } from '../../port/home.ts'
import type { HomeBounds } from '../../port/store.ts'
import type { ImportAnswer, ImportOrder } from '../../port/transfer.ts'
import { prepareTuples } from '../engine/connection.ts'
import type { Tally } from '../engine/totals.ts'
import { prepareCountWrites, prepareHomes, prepareLog } from '../homes.ts'
import type { Refuse } from '../identities.ts'
import { preparePrune } from '../prune.ts'
import { prepareSaveStand, prepareStand, type Stand } from '../stands.ts'
import type { StagedRow, Staging } from './staging.ts'

/** The versions of one key, oldest first. */
interface Group {
  readonly newest: Newest
  readonly places: readonly number[]
  readonly bytes: number
}

const newestOf = ({ created_at: createdAt, updated_at: updatedAt, ...row }: StagedRow): Newest => ({
  ...{ key: row.key, id: row.id, version: row.version, operation: row.operation },
  ...{ createdAt, updatedAt, size: row.size },
})

const groupOf = (rows: readonly StagedRow[], last: StagedRow): Group => ({
  newest: newestOf(last),
  places: rows.map(({ n }) => n),
  bytes: rows.reduce((sum, { size }) => sum + size, 0),
})

function* groupsOf(rows: Iterable<StagedRow>): Generator<Group> {
  let group: StagedRow[] = []
  for (const row of rows) {
    const last = group.at(-1)
    if (last && last.key !== row.key) {
      yield groupOf(group, last)
      group = []
    }
    group.push(row)
  }
  const last = group.at(-1)
  if (last) yield groupOf(group, last)
}

interface Staged {
  readonly place: string
  /** Versions that were brought there: a thread that started anew has none of them. */
  readonly staged: number
}

/** What is to be done under a key. */
interface Step {
  readonly group: Group
  readonly fate: Exclude<Fate, { fate: 'left_out' }>
  readonly before: Stand | undefined
}

/** Texts go from table to table, and never through JavaScript. */
function prepareCopies(db: DatabaseSync) {
  const asItWas = prepareTuples<[number]>(
    db,
    `INSERT INTO versions (agent_id, key, seq, previous, version, operation, author, id,
       created_at, updated_at, bytes, size, metadata, text)
     SELECT ?, key, ?, ?, version, operation, author, id,
       created_at, updated_at, bytes, size, metadata, text
     FROM temp.staged WHERE n = ? RETURNING n`,
  )
  const next = prepareTuples<[number]>(
    db,
    `INSERT INTO versions (agent_id, key, seq, previous, version, operation, author, id,
       created_at, updated_at, bytes, size, metadata, text)
     SELECT ?, key, ?, ?, ?, 'import', ?, ?, ?, ?, bytes, size, metadata, text
     FROM temp.staged WHERE n = ? RETURNING n`,
  )
  return {
    asItWas: (...values: Parameters<typeof asItWas.get>) => asItWas.get(...values)?.[0] ?? null,
    next: (...values: Parameters<typeof next.get>) => next.get(...values)?.[0] ?? null,
  }
}

function prepareTake(db: DatabaseSync, bounds: HomeBounds) {
  const copies = prepareCopies(db)
  const saveStand = prepareSaveStand(db)
  const prune = preparePrune(db, bounds)
  const log = prepareLog(db, bounds.events)
  const metadataAt = prepareTuples<[string | null]>(
    db,
    'SELECT metadata FROM temp.staged WHERE n = ?',
  )

  /** Where the newest version lies then, and how many there are. */
  function copy(agentId: string, seq: number, author: string, step: Step) {
    const { group, fate, before } = step
    let n = before?.n ?? null
    if (fate.fate === 'next') {
      const { version, id, createdAt, updatedAt } = fate.next
      const place = group.places.at(-1) ?? null
      n = copies.next(agentId, seq, n, version, author, id, createdAt, updatedAt, place)
      return { n, count: (before?.count ?? 0) + 1 }
    }
    for (const place of group.places) n = copies.asItWas(agentId, seq, n, place)
    return { n, count: group.places.length }
  }

  return {
    /** The bytes that gave way. */
    take(agentId: string, seq: number, author: string, step: Step, now: number): number {
      const { group, fate, before } = step
      const { newest, places } = group
      const { id, version, createdAt, updatedAt } = fate.fate === 'next' ? fate.next : newest
      const { n, count: copied } = copy(agentId, seq, author, step)
      const { count, freed } = prune.memory({ n, count: copied })
      const deleted = newest.operation === 'delete'
      const size = deleted ? 0 : newest.size
      const metadata = metadataAt.get(places.at(-1) ?? null)?.[0] ?? '{}'
      const flags = { deleted, pinned: !deleted && isPinned(metadata), kept: count > 0 }
      const stand = { id, version, createdAt, updatedAt, size, count, n, ...flags }
      saveStand(agentId, newest.key, stand, before === undefined)
      log(agentId, seq, { type: 'import', key: newest.key, version }, author, now)
      return freed
    },
    pruneHome: prune.home,
  }
}

export function prepareImport(
  db: DatabaseSync,
  refuse: Refuse,
  tally: Tally,
  bounds: HomeBounds,
  staging: Staging,
) {
  const homes = prepareHomes(db)
  const standAt = prepareStand(db)
  const { take, pruneHome } = prepareTake(db, bounds)
  const countWrites = prepareCountWrites(db)

  function carryOut(identity: Identity, steps: readonly Step[], ledger: Ledger, now: number): void {
    const { agentId } = identity
    const author = JSON.stringify(authorOf(identity))
    const before = homes.read(agentId)
    let { lastEvent } = before
    let history = ledger.history
    for (const step of steps) history -= take(agentId, ++lastEvent, author, step, now)
    const home = { ...ledger, history, lastEvent }
    homes.save(agentId, { ...home, history: history - pruneHome(agentId, home) })
    countWrites(agentId, now, steps.length)
    tally.created(ledger.memories - before.memories)
  }

  /** Takes over what was staged at the place. */
  return (
    identity: Identity,
    { place, staged }: Staged,
    order: ImportOrder,
    now: number,
  ): ImportAnswer | { readonly outcome: 'lost' } => {
    const refused = refuse(identity)
    if (refused) return refused
    const { agentId } = identity
    const following = followImport(homes.read(agentId), order, bounds, now)
    const steps: Step[] = []
    let met = 0
    for (const group of groupsOf(staging.rowsOf(place))) {
      met += group.places.length
      const before = standAt(agentId, group.newest.key)
      const fate = following.meet(group.newest, before, group.bytes)
      if (fate.fate !== 'left_out') steps.push({ group, fate, before })
    }
    if (met !== staged) return { outcome: 'lost' }
    const answer = following.answer()
    if (isKept(answer, order) && steps.length > 0) {
      carryOut(identity, steps, following.ledger(), now)
    }
    return answer
  }
}
