/** Writes of memories, over what an engine does with a home's log. */
import { authorOf } from './answers.ts'
import type { Actor, Back, Batch, BatchAnswer } from './batches.ts'
import { followBrought } from './bring.ts'
import { type Effect, textFateOf } from './change.ts'
import { numbersOf, planErasure } from './erasure.ts'
import type { Home, HomeLog, KeyState } from './home-log.ts'
import { broughtBack } from './lines.ts'
import { chainEntries, follow, remainsOf } from './log-entries.ts'
import { type Counters, plan } from './plan.ts'
import type { EventType } from './port/events.ts'
import type { Author, Identity } from './port/identity.ts'
import {
  type AnswerBound,
  type Change,
  type ChangesAnswer,
  type EraseAnswer,
  type Erasure,
  KNOWN_EVENTS,
  KNOWN_MS,
  type Once,
  type OnceAnswer,
} from './port/memories.ts'
import type { HomeBounds } from './port/store.ts'
import { rollbackText } from './rows.ts'
import type { LogEvent } from './verbs/controls.ts'
import { vectorFates } from './verbs/kept-vectors.ts'
import { ask, statement, type Verb } from './verbs/verb.ts'

const countErasure = statement('UPDATE homes SET erasures = erasures + 1 WHERE agent_id = $1')

/** What is written, and whose it is. */
interface Writing {
  readonly agentId: string
  readonly by: Author
  readonly home: Home
  readonly stored: (key: string) => KeyState | undefined
  readonly now: number
}

/** An event before or behind the changes. */
interface Around {
  readonly type: EventType
  readonly key?: string | undefined
}

/** The row that the place is of, if it is there. */
const rowOf = (state: KeyState | undefined): number | undefined =>
  state?.place && 'row' in state.place ? state.place.row : undefined

function subjectOf({ begin, end }: Batch, effects: readonly Effect[]): string | undefined {
  if (begin?.type !== 'rollback') return undefined
  return rollbackText({ to: begin.wanted.to, parts: end ? effects.length : begin.parts })
}

/** Saves effects and the events around them. */
function* carryOut(
  log: HomeLog,
  { agentId, by, home, stored, now }: Writing,
  effects: readonly Effect[],
  counters: Counters,
  around: { readonly first?: Around | undefined; readonly last?: Around | undefined } = {},
): Verb<void> {
  const chain = chainEntries(home, by)
  const following = { chain, states: new Map<string, KeyState>(), stored, now }
  if (around.first) chain.add({ ...around.first, at: now })
  for (const effect of effects) follow(following, effect)
  if (around.last) chain.add({ ...around.last, at: now })
  const { states } = following
  if (counters.vectors > 0 && effects.length > 0) {
    yield* vectorFates.vectorsFollow(agentId, effects.map(textFateOf))
  }
  const after = { ...counters, ...chain.end() }
  const { entries } = chain
  const writes = effects.length
  yield* log.save({ agentId, before: home, after, stored, now, entries, states, writes })
}

/** Those that are still to be taken back. */
function* dueOf(
  log: HomeLog,
  agentId: string,
  { back = [], due }: Batch,
  states: ReadonlyMap<string, KeyState>,
): Verb<readonly Back[]> {
  if (!due) return back
  const changeOf = ({ key }: Back): number => states.get(key)?.change ?? 0
  if (due.unless === 'changed_since') {
    const empty = back.flatMap(({ key }) => (states.get(key)?.place === null ? key : []))
    const left = yield* log.leftSince(agentId, empty, due.event)
    return back.filter((each) => changeOf(each) < due.event && !left.has(each.key))
  }
  const since = back.filter((each) => changeOf(each) > due.event)
  const placeOf = ({ key }: Back) => rowOf(states.get(key))
  const imported = yield* log.imported(
    agentId,
    since.flatMap((each) => placeOf(each) ?? []),
  )
  return since.filter((each) => imported.has(placeOf(each) ?? 0))
}

function* takeBack(
  log: HomeLog,
  agentId: string,
  batch: Batch,
  states: ReadonlyMap<string, KeyState>,
) {
  const back = yield* dueOf(log, agentId, batch, states)
  const rows = back.flatMap(({ n }) => n ?? [])
  const texts = yield* log.texts(agentId, rows)
  const found = back.map((each) => ({ back: each, was: texts.get(each.n ?? 0) }))
  return broughtBack(found)
}

interface Over {
  readonly log: HomeLog
  readonly bounds: HomeBounds
}

function* changeIn(
  { log, bounds }: Over,
  home: Home,
  identity: Identity,
  changes: readonly Change[],
  now: number,
  bound?: AnswerBound,
): Verb<ChangesAnswer> {
  const { agentId } = identity
  const loaded = yield* log.load(agentId, changes)
  const planned = plan(identity, changes, loaded, home, bounds, now, bound)
  if ('faults' in planned) return { outcome: 'unchanged', faults: planned.faults }
  const { effects, counters, results } = planned
  const writing = { agentId, by: authorOf(identity), home, stored: loaded.head, now }
  if (effects.length > 0) yield* carryOut(log, writing, effects, counters)
  return { outcome: 'changed', results }
}

function* changeMemories(
  over: Over,
  identity: Identity,
  ...changes: readonly [readonly Change[], number, AnswerBound?]
): Verb<ChangesAnswer> {
  const locked = yield* over.log.lock(identity)
  if (locked.outcome !== 'locked') return locked
  return yield* changeIn(over, locked.home, identity, ...changes)
}

const findAppend = statement<{ fingerprint: string; answer: string }>(`
  SELECT fingerprint, answer FROM keyed_appends
  WHERE agent_id = $1 AND key_hash = $2 AND event > $3 AND made_at > $4
  ORDER BY event DESC LIMIT 1`)

const keepAppend = statement(`
  INSERT INTO keyed_appends (agent_id, event, key_hash, fingerprint, answer, made_at)
  VALUES ($1, $2, $3, $4, $5, $6)`)

/** A few of the oldest go with each that comes. */
const dropAppends = statement(`
  DELETE FROM keyed_appends WHERE agent_id = $1 AND (event <= $2 OR made_at <= $3) AND event IN (
    SELECT event FROM keyed_appends WHERE agent_id = $1 ORDER BY event LIMIT 20)`)

function* appendOnce(
  over: Over,
  identity: Identity,
  append: Extract<Change, { verb: 'append' }>,
  { keyHash, fingerprint }: Once,
  now: number,
): Verb<OnceAnswer> {
  const locked = yield* over.log.lock(identity)
  if (locked.outcome !== 'locked') return locked
  const { home } = locked
  const { agentId } = identity
  const event = home.lastEvent + 1
  const since = [event - KNOWN_EVENTS, now - KNOWN_MS]
  const [made] = yield* ask(findAppend, agentId, keyHash, ...since)
  if (made && made.fingerprint !== fingerprint) return { outcome: 'key_reused' }
  if (made) return { outcome: 'repeated', memory: JSON.parse(made.answer) }
  const answer = yield* changeIn(over, home, identity, [append], now)
  const [result] = answer.outcome === 'changed' ? answer.results : []
  if (result?.outcome !== 'saved') return answer
  const { text: _, metadata: __, ...memory } = result.memory
  yield* ask(keepAppend, agentId, event, keyHash, fingerprint, JSON.stringify(memory), now)
  yield* ask(dropAppends, agentId, ...since)
  return answer
}

/** A batch of an import or a rollback. */
function* writeBatch(
  { log, bounds }: Over,
  actor: Actor,
  batch: Batch,
  now: number,
): Verb<BatchAnswer> {
  const locked = yield* log.lock(actor)
  if (locked.outcome !== 'locked') return locked
  const { home } = locked
  const { agentId } = actor
  const { begin, begun, end, way } = batch
  const going = yield* log.begun(agentId)
  if (going?.event !== begun?.event || going?.holder !== begun?.holder) {
    return { outcome: 'lost' }
  }
  const keys = (batch.back ?? batch.brought ?? []).map(({ key }) => key)
  const states = yield* log.states(agentId, keys)
  const back = batch.back && (yield* takeBack(log, agentId, batch, states))
  const brought = back?.brought ?? batch.brought ?? []
  const following = followBrought(home, way, bounds)
  const effects = brought.flatMap((each) => following.meet(each, states.get(each.key), now) ?? [])
  // What has begun to be taken back is taken back, even if others have used the room meanwhile.
  const since = end ? (batch.since ?? home) : null
  const refusal = way.isRollback ? undefined : following.refusal(since)
  if (refusal) return refusal
  const told = { ...following.answer(), ...(back && { taken: back.taken }) }
  // Others have changed meanwhile whatever it was about.
  if (begin && end && effects.length === 0) return { ...told, begun: { event: 0, holder: '' } }
  const by = 'by' in actor ? actor.by : authorOf(actor)
  const stored = (key: string) => states.get(key)
  const event = begun?.event ?? home.lastEvent + 1
  // Nothing is pruned from its beginning until it has ended.
  const first = begin && (yield* log.record(agentId, batch, event))
  yield* carryOut(log, { agentId, by, home, stored, now }, effects, following.counters(), {
    first: begin && { type: begin.type, key: subjectOf(batch, effects) },
    last: end && { type: end },
  })
  const goesOn = first ?? (yield* log.record(agentId, batch, event))
  return { ...told, begun: goesOn }
}

function* eraseMemory(
  { log }: Over,
  identity: Identity,
  key: string,
  erasure: Erasure,
  now: number,
): Verb<EraseAnswer> {
  const locked = yield* log.lock(identity)
  if (locked.outcome !== 'locked') return locked
  const { home } = locked
  const { agentId } = identity
  const state = (yield* log.states(agentId, [key])).get(key)
  if (!state) return { outcome: 'missing' }
  const erased = planErasure(erasure, state, yield* log.chain(agentId, key), home, now)
  if (erased === 'current') return { outcome: 'current' }
  const { gone, left, counters, made: version } = erased
  yield* log.remove(agentId, home, gone, erased.relinked)
  if (gone.length > 0) yield* ask(countErasure, agentId)
  if (left) yield* vectorFates.dropVector(agentId, key)
  const chain = chainEntries(home, authorOf(identity))
  chain.add({ type: 'erase', key, version: version ?? null, at: now })
  const after = left
    ? { ...remainsOf(state, left, null), count: 0, run: 0 }
    : { ...state, count: state.count - gone.length, run: 0 }
  yield* log.save({
    ...{ agentId, before: home, after: { ...home, ...counters, ...chain.end() }, now },
    ...{ entries: chain.entries, states: new Map([[key, after]]), stored: () => state },
    writes: 0,
  })
  return { outcome: 'erased', versions: numbersOf(gone) }
}

/** Logs an event that changed no memory, in the transaction of its cause. */
export const logEvents = (log: HomeLog): LogEvent =>
  function* ({ agentId, by }, type, now, key) {
    const locked = yield* log.lock({ agentId, by })
    if (locked.outcome !== 'locked') return
    const { home } = locked
    const writing = { agentId, by, home, stored: () => undefined, now }
    yield* carryOut(log, writing, [], home, { first: { type, key } })
  }

type Rest<F> = F extends (over: Over, ...rest: infer R) => unknown ? R : never

/** The verbs, over an engine's log. */
export function memoryWrites(log: HomeLog, bounds: HomeBounds) {
  const over = { log, bounds }
  return {
    changeMemories: (...change: Rest<typeof changeMemories>) => changeMemories(over, ...change),
    appendOnce: (...append: Rest<typeof appendOnce>) => appendOnce(over, ...append),
    writeBatch: (...batch: Rest<typeof writeBatch>) => writeBatch(over, ...batch),
    eraseMemory: (...erasure: Rest<typeof eraseMemory>) => eraseMemory(over, ...erasure),
  }
}
