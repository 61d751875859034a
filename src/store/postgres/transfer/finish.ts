/** Finishes an import: staged rows become versions, each with its event. */
import { authorOf } from '../../answers.ts'
import type { FinishAnswer } from '../../import-attempts.ts'
import {
  canBecome,
  type Fate,
  type Following,
  followImport,
  isKept,
  isProtectedAfter,
  operationOf,
} from '../../import-plan.ts'
import { rollbackText } from '../../rows.ts'
import { vectorFates } from '../../verbs/kept-vectors.ts'
import { type Ask, statement } from '../engine/connections.ts'
import { run } from '../engine/run.ts'
import { chain, eventOf, type Found, type Head, saveHeads, saveLog } from '../keeping/effects.ts'
import { type HomeRow, holdHome, saveHome } from '../keeping/homes.ts'
import { isAmong } from '../keeping/log.ts'
import type { Grown } from '../keeping/prune.ts'
import { type Ahead, takeOver } from './ahead.ts'
import { happenedAt, headRowOf } from './import-rows.ts'
import { headsUnder, type Importing, removeStretches, type Step, type Stretch } from './staging.ts'

/** Keys per statement. */
const AT_ONCE = 500

/** What to do with a key, as decided at the end. */
interface Decided extends Step {
  readonly head: Found | undefined
  /** The fate that it was staged with. */
  readonly written: Fate | undefined
}

type Kept = Exclude<Fate, { fate: 'left_out' }>

/** The row moves from `was` to `n`, the number of its event. */
interface Taken {
  readonly step: Decided
  readonly fate: Kept
  readonly was: number
  readonly n: number
}

/** The same, with the hash of its event. */
interface Linked extends Taken {
  readonly hash: Uint8Array
}

/** Listed too: joined with the list alone, the planner may read the whole log. */
const number = statement(`
  UPDATE log l SET n = t.n, hash = t.hash
  FROM unnest($2::BIGINT[], $3::BIGINT[], $4::BYTEA[]) AS t (was, n, hash)
  WHERE l.agent_id = $1 AND ${isAmong('SELECT unnest($2::BIGINT[])')} AND l.n = t.was`)

/** What staged rows were committed to. */
const contentsAt = statement<{ n: number; content: Uint8Array | null }>(
  `SELECT n, content FROM log l WHERE agent_id = $1 AND ${isAmong('SELECT unnest($2::BIGINT[])')}`,
)

/** Rewrites a staged row as the next version of its key, whatever it was staged as. */
const follow = statement(`
  UPDATE log l SET author = $2, event = NULL, event_author = NULL, n = t.n,
    previous = t.previous, version = t.version, memory_id = t.memory_id, created_at = t.created_at,
    updated_at = t.updated_at, happened_at = t.happened_at, operation = t.operation, hash = t.hash
  FROM unnest($3::BIGINT[], $4::BIGINT[], $5::BIGINT[], $6::BIGINT[], $7::TEXT[], $8::BIGINT[],
      $9::BIGINT[], $10::BIGINT[], $11::TEXT[], $12::BYTEA[])
    AS t (was, n, previous, version, memory_id, created_at, updated_at, happened_at, operation, hash)
  WHERE l.agent_id = $1 AND ${isAmong('SELECT unnest($3::BIGINT[])')} AND l.n = t.was`)

interface Doing extends Pick<Importing, 'identity' | 'order' | 'now'> {
  readonly ask: Ask
}

function* some<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < all.length; at += AT_ONCE) yield all.slice(at, at + AT_ONCE)
}

async function decide(
  { ask, identity }: Doing,
  steps: readonly Step[],
  following: Following,
): Promise<Decided[]> {
  const decided: Decided[] = []
  for (const each of some(steps)) {
    const keys = each.map(({ newest }) => newest.key)
    const heads = await headsUnder(ask, identity.agentId, keys)
    for (const step of each) {
      const head = heads.get(step.newest.key)
      const fate = following.meet(step.newest, head, step.bytes, step.versions)
      const written = step.n === null ? undefined : step.fate
      decided.push({ ...step, head, fate, written })
    }
  }
  return decided
}

/** Numbers them in order, after the last event. */
function numbered(decided: readonly Decided[], lastEvent: number): Taken[] {
  let n = lastEvent
  return decided.flatMap((step): Taken[] => {
    const { fate, n: was } = step
    return fate.fate === 'left_out' || was === null ? [] : [{ step, fate, was, n: ++n }]
  })
}

/** Staged rows that are not kept. */
function surplusOf({ fate: { fate }, n, earlier }: Decided): Stretch[] {
  const newest = fate === 'left_out' && n !== null ? [{ from: n, to: n }] : []
  return earlier && fate !== 'as_it_was' ? [...newest, earlier] : newest
}

/** The events of these rows, chained in order on `before`. */
async function link(
  { ask, identity, order, now }: Doing,
  taken: readonly Taken[],
  before: Head,
): Promise<{ readonly linked: readonly Linked[]; readonly head: Head }> {
  const places = taken.map(({ was }) => was)
  const rows = await ask(contentsAt, identity.agentId, places)
  const contents = new Map(rows.map(({ n, content }) => [n, content]))
  const by = authorOf(identity)
  let head = before
  const linked = taken.map((each): Linked => {
    const { newest } = each.step
    const { version } = each.fate.fate === 'next' ? each.fate.next : newest
    const content = contents.get(each.was) ?? null
    const type = operationOf(newest, order)
    head = chain(head, { type, key: newest.key, version, createdAt: now, content }, by)
    return { ...each, hash: head.head }
  })
  return { linked, head }
}

async function place({ ask, identity, order, now }: Doing, taken: readonly Linked[]) {
  const { agentId } = identity
  const asItWas = taken.filter(({ fate }) => fate.fate === 'as_it_was')
  const columns = asItWas.map(({ was, n, hash }) => [was, n, hash])
  const follows = taken.flatMap(({ step, fate, was, n, hash }) => {
    if (fate.fate !== 'next') return []
    const { version, id, createdAt, updatedAt } = fate.next
    const times = [createdAt, updatedAt, happenedAt(updatedAt, now)]
    const operation = operationOf(step.newest, order)
    return [[was, n, step.head?.n ?? null, version, id, ...times, operation, hash]]
  })
  const column = (rows: readonly (readonly unknown[])[], at: number) => rows.map((row) => row[at])
  const moves = [0, 1, 2].map((at) => column(columns, at))
  if (columns.length > 0) await ask(number, agentId, ...moves)
  const author = JSON.stringify(authorOf(identity))
  const all = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((at) => column(follows, at))
  if (follows.length > 0) await ask(follow, agentId, author, ...all)
}

/** The event of a rollback, of which the next events are the parts. */
async function logRollback(
  { ask, identity, order, now }: Doing,
  before: Head,
  parts: number,
): Promise<Head> {
  if (order.rollbackTo === undefined) return before
  const key = rollbackText({ to: order.rollbackTo, parts })
  const done = { by: authorOf(identity), now }
  const { row, head } = eventOf(before, 'rollback', { key, version: null }, done)
  await saveLog(ask, [identity.agentId], [row])
  return head
}

async function carryOut(doing: Doing, decided: readonly Decided[], before: Head): Promise<Head> {
  const { ask, identity } = doing
  const { agentId } = identity
  const surplus = decided.flatMap(surplusOf)
  if (surplus.length > 0) await removeStretches(ask, agentId, surplus)
  const first = before.last_event + (doing.order.rollbackTo === undefined ? 0 : 1)
  const taken = numbered(decided, first)
  let head = await logRollback(doing, before, taken.length)
  for (const each of some(taken)) {
    const chained = await link(doing, each, head)
    head = chained.head
    await place(doing, chained.linked)
    const heads = each.map(({ step, fate, n }) =>
      headRowOf(
        step.newest,
        fate.fate === 'next' ? fate.next : step.newest,
        { pinned: step.pinned, protected: isProtectedAfter(step.newest, step.head) },
        n,
      ),
    )
    await saveHeads(ask, [agentId], heads)
  }
  return head
}

async function keep(
  doing: Doing,
  home: HomeRow,
  decided: readonly Decided[],
  following: Following,
): Promise<Grown> {
  const { ask, identity, now } = doing
  const from = home.last_event
  const head = await carryOut(doing, decided, home)
  const taken = decided.filter(({ fate }) => fate.fate !== 'left_out').length
  const ledger = following.ledger()
  await saveHome(ask, identity.agentId, { ...ledger, ...head }, now, taken)
  if (home.vectors > 0) await run(ask, vectorFates.dropAgedVectors(identity.agentId))
  const { bytes, history, vectors, deleted } = ledger
  const events = { from, to: head.last_event }
  return { made: [], bytes: bytes + history + vectors, deleted, events }
}

/** `grown`: what was added; absent if nothing was. */
export interface Finished {
  readonly answer: FinishAnswer
  readonly grown?: Grown
}

/** In a transaction that locks the home from here on. */
export async function finishImport(
  ask: Ask,
  { identity, order, bounds, now }: Omit<Importing, 'home'>,
  steps: readonly Step[],
  ahead: Ahead | undefined,
): Promise<Finished> {
  const held = await holdHome(ask, identity)
  if (held.outcome !== 'held') return { answer: held }
  const doing = { ask, identity, order, now }
  const following = followImport(held.home, order, bounds, now)
  const decided = await decide(doing, steps, following)
  const answer = following.answer()
  if (answer.outcome !== 'imported' || !isKept(answer, order)) return { answer }
  const isMendable = ({ written, fate }: Decided) => canBecome(written, fate)
  if (!decided.every(isMendable)) return { answer: { outcome: 'overtaken' } }
  if (answer.imported === 0) return { answer }
  if (!ahead || !(await takeOver(ask, ahead))) return { answer: { outcome: 'lost' } }
  return { answer, grown: await keep(doing, held.home, decided, following) }
}
