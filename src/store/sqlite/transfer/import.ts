/** Finishes an import: staged rows become versions, each with its event. */
import type { DatabaseSync } from 'node:sqlite'
import { authorOf } from '../../answers.ts'
import type { FinishAnswer } from '../../import-attempts.ts'
import {
  canBecome,
  type Fate,
  followImport,
  isKept,
  isProtectedAfter,
  operationOf,
} from '../../import-plan.ts'
import type { Ledger } from '../../plan.ts'
import type { Author, Identity } from '../../port/home.ts'
import type { HomeBounds } from '../../port/store.ts'
import type { ImportOrder } from '../../port/transfer.ts'
import { rollbackText } from '../../rows.ts'
import { vectorFates } from '../../verbs/kept-vectors.ts'
import { prepare, prepareTuples } from '../engine/connection.ts'
import { prepareVerbs } from '../engine/run.ts'
import type { Tally } from '../engine/totals.ts'
import type { Refuse } from '../identities.ts'
import { type Home, prepareCountWrites, prepareHomes } from '../keeping/homes.ts'
import { beneath, prepareAppend } from '../keeping/log.ts'
import { bytesOf, preparePrune } from '../keeping/prune.ts'
import { type KeyState, prepareKeyState, prepareSaveKeyState } from '../keeping/states.ts'
import { prepareMark } from './ahead.ts'
import type { Cursor } from './staging.ts'
import type { Step, Steps } from './steps.ts'

/** The home during the import. */
interface OpenHome {
  readonly agentId: string
  readonly by: Author
  readonly order: ImportOrder
  readonly now: number
  home: Home
}

type Kept = Exclude<Fate, { fate: 'left_out' }>

/** What to do with a key, as decided at the end. */
interface Decided {
  readonly step: Step
  readonly fate: Fate
  readonly before: KeyState | undefined
}

/** Whether the staged rows are right as they are. */
function isAsWritten({ step, fate, before }: Decided): boolean {
  if (fate.fate !== step.fate.fate) return false
  if (fate.fate !== 'next' || step.fate.fate !== 'next') return true
  return fate.next.version === step.fate.next.version && step.previous === (before?.n ?? null)
}

/** Whether they can be adjusted. */
const isMendable = ({ step, fate }: Decided): boolean =>
  canBecome(step.n === null ? undefined : step.fate, fate)

/** Adjusts the staged rows of a key that has changed since. */
function prepareMend(db: DatabaseSync, bounds: HomeBounds) {
  const prune = preparePrune(db, bounds)
  const previousOf = prepare<{ previous: number | null }>(
    db,
    'SELECT previous FROM log WHERE n = ?',
  )
  const follow = prepare(
    db,
    `UPDATE log SET version = ?, author = ?, updated_at = ?, operation = ?, previous = ?,
       memory_id = ?, created_at = ? WHERE n = ?`,
  )

  return ({ agentId, by, order, home }: OpenHome, decided: Decided): Decided => {
    const { step, fate, before } = decided
    const { n, count } = step
    if (n === null || isAsWritten(decided)) return decided
    if (fate.fate !== 'next') {
      prune.chain(agentId, home, n, count)
      return decided
    }
    if (count > 1) prune.chain(agentId, home, previousOf.get(n)?.previous ?? null, count - 1)
    const { id, version, createdAt, updatedAt } = fate.next
    const operation = operationOf(step.newest, order)
    const follows = before?.n ?? null
    follow.run(version, JSON.stringify(by), updatedAt, operation, follows, id, createdAt, n)
    return { ...decided, step: { ...step, count: 1 } }
  }
}

function prepareTake(db: DatabaseSync, bounds: HomeBounds) {
  const append = prepareAppend(db, bounds.events)
  const saveState = prepareSaveKeyState(db)
  const contentAt = prepareTuples<[content: Uint8Array | null]>(
    db,
    'SELECT content FROM log WHERE n = ?',
  )

  function save(opened: OpenHome, { step, before }: Decided, fate: Kept): void {
    const { agentId, by, order, now } = opened
    const { newest, pinned, n } = step
    const { key } = newest
    const { id, version, createdAt, updatedAt } = fate.fate === 'next' ? fate.next : newest
    const { home } = append(agentId, opened.home, {
      event: operationOf(newest, order),
      key,
      version,
      by,
      at: now,
      content: contentAt.get(n)?.[0] ?? undefined,
    })
    const change = opened.home.lastEvent + 1
    const count = step.count + (fate.fate === 'next' ? (before?.count ?? 0) : 0)
    opened.home = home
    const deleted = newest.operation === 'delete'
    const size = deleted ? 0 : newest.size
    const facts = { id, version, createdAt, updatedAt, size, change, count, run: 0, n }
    const marks = { deleted, pinned, protected: isProtectedAfter(newest, before) }
    saveState(agentId, key, { ...facts, ...marks }, before === undefined)
  }

  return (opened: OpenHome, decided: Decided): void => {
    const { fate } = decided
    if (fate.fate !== 'left_out') save(opened, decided, fate)
  }
}

function prepareCarryOut(db: DatabaseSync, tally: Tally, bounds: HomeBounds) {
  const homes = prepareHomes(db)
  const mend = prepareMend(db, bounds)
  const take = prepareTake(db, bounds)
  const append = prepareAppend(db, bounds.events)
  const countWrites = prepareCountWrites(db)
  const { dropAgedVectors } = prepareVerbs(db, vectorFates)

  return (opened: OpenHome, decided: readonly Decided[], ledger: Ledger): void => {
    const { agentId, by, order, now } = opened
    const before = opened.home
    const imports = before.imports + 1
    const oldest = Math.min(before.oldest, beneath({ imports }))
    opened.home = { ...before, ...ledger, imports, oldest }
    const taken = decided.filter(({ fate }) => fate.fate !== 'left_out').length
    if (order.rollbackTo !== undefined) {
      const key = rollbackText({ to: order.rollbackTo, parts: taken })
      opened.home = append(agentId, opened.home, { event: 'rollback', key, by, at: now }).home
    }
    for (const each of decided) take(opened, mend(opened, each))
    if (ledger.vectors > 0) dropAgedVectors(agentId)
    homes.save(agentId, countWrites(agentId, opened.home, now, taken))
    tally.created(ledger.memories - before.memories)
  }
}

export function prepareFinish(
  db: DatabaseSync,
  refuse: Refuse,
  tally: Tally,
  bounds: HomeBounds,
  steps: Steps,
) {
  const homes = prepareHomes(db)
  const stateAt = prepareKeyState(db)
  const carryOut = prepareCarryOut(db, tally, bounds)
  const { unmark } = prepareMark(db)

  /** Staged steps are lost when the writer thread ends. */
  return (identity: Identity, { keys }: Cursor, order: ImportOrder, now: number): FinishAnswer => {
    const refused = refuse(identity)
    if (refused) return refused
    const { agentId } = identity
    const home = homes.read(agentId)
    const following = followImport(home, order, bounds, now)
    const decided = steps.of(agentId).map((step): Decided => {
      const before = stateAt(agentId, step.newest.key)
      return { step, before, fate: following.meet(step.newest, before, step.bytes, step.versions) }
    })
    if (decided.length !== keys) return { outcome: 'lost' }
    const answer = following.answer()
    if (answer.outcome !== 'imported' || !isKept(answer, order)) return answer
    if (!decided.every(isMendable)) return { outcome: 'overtaken' }
    const by = authorOf(identity)
    if (answer.imported > 0)
      carryOut({ agentId, by, order, now, home }, decided, following.ledger())
    // The steps are dropped separately, which takes a third as long as this transaction.
    unmark(agentId)
    return answer
  }
}

/** Continues pruning a home over its limits; true while there is more. */
export function preparePruneHome(db: DatabaseSync, refuse: Refuse, bounds: HomeBounds) {
  const homes = prepareHomes(db)
  const prune = preparePrune(db, bounds)
  return (identity: Identity): boolean => {
    if (refuse(identity)) return false
    const { agentId } = identity
    const before = homes.read(agentId)
    const after = prune.home(agentId, before, bytesOf(before))
    if (after === before) return false
    homes.save(agentId, after)
    return after.deleted < before.deleted || bytesOf(after) < bytesOf(before)
  }
}
