/** What was staged becomes versions of the home, in the writer's one transaction. */
import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { authorOf } from '../../answers.ts'
import { isPinned } from '../../change.ts'
import { type Fate, followImport, isKept, type Newest, type Next } from '../../import-plan.ts'
import type { Ledger } from '../../plan.ts'
import type { Identity } from '../../port/home.ts'
import type { HomeBounds } from '../../port/store.ts'
import type { ImportAnswer, ImportOrder } from '../../port/transfer.ts'
import { prepare, prepareTuples } from '../engine/connection.ts'
import type { Tally } from '../engine/totals.ts'
import type { Refuse } from '../identities.ts'
import { type Home, prepareCountWrites, prepareHomes, replacing } from '../keeping/homes.ts'
import { prepareAdvance, prepareAppend } from '../keeping/log.ts'
import { preparePrune } from '../keeping/prune.ts'
import { prepareSaveStand, prepareStand, type Stand } from '../keeping/stands.ts'
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

/** The home for the length of the import. */
interface Desk {
  readonly agentId: string
  readonly author: string
  home: Home
}

/** What is to be done under a key. */
interface Step {
  readonly group: Group
  readonly fate: Exclude<Fate, { fate: 'left_out' }>
  readonly before: Stand | undefined
}

/** Texts go from table to table, and never through JavaScript. Each answers where the row lies. */
function prepareCopies(db: DatabaseSync) {
  const asItWas = prepare(
    db,
    `INSERT INTO log (agent_id, id, before, key, version, author, at, operation, previous,
       memory_id, created_at, bytes, size, metadata, text)
     SELECT ?, ?, ?, key, version, author, updated_at, operation, ?,
       id, created_at, bytes, size, metadata, text
     FROM temp.staged WHERE n = ?`,
  )
  const next = prepare(
    db,
    `INSERT INTO log (agent_id, id, before, previous, version, author, memory_id, created_at, at,
       event, operation, key, bytes, size, metadata, text)
     SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, 'import', 'import', key, bytes, size, metadata, text
     FROM temp.staged WHERE n = ?`,
  )
  return {
    asItWas: (...values: SQLInputValue[]) => Number(asItWas.run(...values).lastInsertRowid),
    next: (...values: SQLInputValue[]) => Number(next.run(...values).lastInsertRowid),
  }
}

/** Answers the home then, where the newest version lies, and how many there are. */
function prepareCopy(db: DatabaseSync, events: number) {
  const copies = prepareCopies(db)
  const advance = prepareAdvance(db, events)
  const append = prepareAppend(db, events)

  function goOn({ agentId, author, home }: Desk, { group, before }: Step, next: Next) {
    const { version, id, createdAt, updatedAt } = next
    const n = copies.next(
      ...[agentId, home.lastEvent + 1, home.tail, before?.n ?? null, version, author, id],
      ...[createdAt, updatedAt, group.places.at(-1) ?? null],
    )
    return { home: advance(agentId, home, n, true), n, count: (before?.count ?? 0) + 1 }
  }

  function takeOver(desk: Desk, { group }: Step, at: number) {
    const { agentId, author } = desk
    const { key, version } = group.newest
    let { home } = desk
    let n: number | null = null
    for (const place of group.places) {
      n = copies.asItWas(agentId, home.lastEvent + 1, home.tail, n, place)
      home = advance(agentId, home, n, false)
    }
    const appended = append(agentId, home, { event: 'import', key, version, author, at })
    return { home: appended.home, n, count: group.places.length }
  }

  return (desk: Desk, step: Step, now: number) =>
    step.fate.fate === 'next' ? goOn(desk, step, step.fate.next) : takeOver(desk, step, now)
}

function prepareTake(db: DatabaseSync, bounds: HomeBounds) {
  const copy = prepareCopy(db, bounds.events)
  const saveStand = prepareSaveStand(db)
  const prune = preparePrune(db, bounds)
  const metadataAt = prepareTuples<[string | null]>(
    db,
    'SELECT metadata FROM temp.staged WHERE n = ?',
  )

  return {
    take(desk: Desk, step: Step, now: number): void {
      const { agentId } = desk
      const { group, fate, before } = step
      const { newest, places } = group
      const { id, version, createdAt, updatedAt } = fate.fate === 'next' ? fate.next : newest
      const change = desk.home.lastEvent + 1
      const {
        home,
        n,
        count: copied,
      } = copy({ ...desk, home: replacing(desk.home, before) }, step, now)
      const { count, freed } = prune.memory(agentId, home, { n, count: copied })
      desk.home = { ...home, history: home.history - freed }
      const deleted = newest.operation === 'delete'
      const size = deleted ? 0 : newest.size
      const metadata = metadataAt.get(places.at(-1) ?? null)?.[0] ?? '{}'
      const pinned = isPinned(metadata)
      const facts = { id, version, createdAt, updatedAt, deleted, size }
      const stand = { ...facts, pinned, change, count, n }
      saveStand(agentId, newest.key, stand, before === undefined)
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
    const desk: Desk = { agentId, author, home: { ...before, ...ledger } }
    for (const step of steps) take(desk, step, now)
    homes.save(agentId, countWrites(agentId, pruneHome(agentId, desk.home), now, steps.length))
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
