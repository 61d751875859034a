/**
 * What this engine does with one home's log. Every change of a home locks its row first and holds it
 * until the commit: so its events are numbered in order without gaps, and changes cannot deadlock.
 */
import type { Actor, Batch, Begun } from '../../batches.ts'
import type { Link } from '../../erasure.ts'
import type { Home, HomeLog, Saving } from '../../home-log.ts'
import { DAYS_KEPT, dayOf } from '../../port/activity.ts'
import type { Refused } from '../../port/identity.ts'
import type { HomeBounds } from '../../port/store.ts'
import type { Then } from '../../verbs/states-before.ts'
import { ask, statement, type Verb } from '../../verbs/verb.ts'
import { ADMITTED, type AdmittedRow, MAY, refusedBy } from '../identities.ts'
import { EVENT } from './event-reads.ts'
import { load } from './load.ts'
import { chainOf, isAmong, PRUNED } from './log.ts'
import { saveEntries } from './log-rows.ts'
import { prune } from './prune.ts'
import { readStates, saveStates } from './states.ts'
import { beginUnfinished, endUnfinished, findUnfinished, holdUnfinished } from './unfinished.ts'

export const homeColumns = (h: string): string => `
  ${h}.memories, ${h}.bytes, ${h}.history, ${h}.deleted, ${h}.floor, ${h}.vectors,
  ${h}.last_event AS "lastEvent", ${h}.head`

/** Nothing of the home if the identity is refused. */
const lockAdmitted = statement<AdmittedRow & Home>(`
  WITH ${ADMITTED},
  home AS (SELECT * FROM homes WHERE agent_id = $1 AND ${MAY} FOR UPDATE)
  SELECT a.kind, a.status AS credential_status, ${homeColumns('h')}
  FROM admitted a LEFT JOIN home h ON true`)

/** For a home that is settled: by whoever began it, whose token may be gone. */
const lockHome = statement<Home>(
  `SELECT ${homeColumns('h')} FROM homes h WHERE agent_id = $1 FOR UPDATE`,
)

function* lock(actor: Actor): Verb<{ readonly outcome: 'locked'; readonly home: Home } | Refused> {
  if ('by' in actor) {
    const [home] = yield* ask(lockHome, actor.agentId)
    return home ? { outcome: 'locked', home } : { outcome: 'revoked' }
  }
  const [home] = yield* ask(lockAdmitted, actor.agentId, actor.tokenHash)
  return refusedBy(home) ?? { outcome: 'locked', home: home as Home }
}

const versionsUnder = statement<Link>(`
  WITH RECURSIVE ${chainOf('m.key = $2', 'NULL')}
  SELECT n, previous, version, size FROM chain ORDER BY nth`)

/** Rows of retained events stay, without the text. */
const pruneVersions = statement(`
  WITH held AS (SELECT first_event FROM homes WHERE agent_id = $1),
  due AS (SELECT n FROM unnest($2::BIGINT[]) AS t (n)),
  ${PRUNED} SELECT count(*) FROM pruned`)

const relink = statement(`
  UPDATE log l SET previous = t.previous
  FROM unnest($2::BIGINT[], $3::BIGINT[]) AS t (n, previous)
  WHERE l.agent_id = $1 AND ${isAmong('SELECT unnest($2::BIGINT[])')} AND l.n = t.n`)

function* remove(
  agentId: string,
  gone: readonly Link[],
  relinked: readonly Pick<Link, 'n' | 'previous'>[],
): Verb<void> {
  yield* ask(
    pruneVersions,
    agentId,
    gone.map(({ n }) => n),
  )
  const from = relinked.map(({ n }) => n)
  const to = relinked.map(({ previous }) => previous)
  yield* ask(relink, agentId, from, to)
}

const selectTexts = statement<Then & { n: number }>(`
  SELECT n, memory_id AS id, created_at AS "createdAt", text, metadata FROM log
  WHERE agent_id = $1 AND n = ANY($2::BIGINT[]) AND kept AND text IS NOT NULL`)

const selectImported = statement<{ n: number }>(`
  SELECT n FROM log
  WHERE agent_id = $1 AND n = ANY($2::BIGINT[]) AND ${EVENT.type} = 'import'`)

const selectLeft = statement<{ key: string }>(`
  SELECT coalesce(renamed_from, key) AS key FROM log
  WHERE agent_id = $1 AND n > $2 AND operation IN ('rename', 'delete')
    AND coalesce(renamed_from, key) = ANY($3::TEXT[])`)

const updateHome = statement<{ day: number; day_writes: number }>(`
  UPDATE homes h SET memories = $2, bytes = $3, history = $4, deleted = $8, last_event = $5, head = $9,
    day = $6, day_writes = CASE WHEN h.day = $6 THEN h.day_writes ELSE 0 END + $7::BIGINT
  FROM homes was WHERE h.agent_id = $1 AND was.agent_id = $1
  RETURNING was.day, was.day_writes`)

const keepDay = statement(`
  INSERT INTO daily_writes AS d (agent_id, day, writes) VALUES ($1, $2, $3)
  ON CONFLICT (agent_id, day) DO UPDATE SET writes = d.writes + excluded.writes`)

const forgetDays = statement('DELETE FROM daily_writes WHERE agent_id = $1 AND day <= $2')

/** At the first write of a day: stores the count of the last one, and drops those no longer kept. */
function* saveHome({ agentId, after, writes, now }: Saving): Verb<void> {
  const { memories, bytes, history, deleted, lastEvent, head } = after
  const today = dayOf(now)
  const values = [memories, bytes, history, lastEvent, today, writes, deleted, head]
  const [was] = yield* ask(updateHome, agentId, ...values)
  if (!was || was.day === today) return
  if (was.day_writes > 0) yield* ask(keepDay, agentId, was.day, was.day_writes)
  yield* ask(forgetDays, agentId, today - DAYS_KEPT)
}

function* save(saving: Saving, bounds: HomeBounds): Verb<void> {
  const { agentId, before, after, entries, states } = saving
  if (states.size > 0) yield* saveStates(agentId, states)
  yield* saveEntries(agentId, entries)
  yield* saveHome(saving)
  const { bytes, history, vectors, deleted } = after
  const made = entries.flatMap(({ key, version, made }) =>
    made && key !== null && version !== null ? [{ key, version }] : [],
  )
  const events = { from: before.lastEvent, to: after.lastEvent }
  const grown = { made, bytes: bytes + history + vectors, deleted, events }
  yield* prune(agentId, grown, bounds)
}

function* record(agentId: string, { begin, begun, end }: Batch, event: number): Verb<Begun> {
  if (begun) {
    yield* end ? endUnfinished(agentId) : holdUnfinished(agentId)
    return begun
  }
  if (end) return { event, holder: '' }
  const rollback = begin?.type === 'rollback' ? begin.wanted : undefined
  return { event, holder: yield* beginUnfinished(agentId, event, rollback) }
}

export const homeLog = (bounds: HomeBounds): HomeLog => ({
  lock,
  load: (agentId, changes) => load(agentId, changes, bounds.versions),
  states: readStates,
  chain: (agentId, key) => ask(versionsUnder, agentId, key),
  *texts(agentId, rows) {
    return new Map((yield* ask(selectTexts, agentId, rows)).map((row) => [row.n, row]))
  },
  *imported(agentId, rows) {
    return new Set((yield* ask(selectImported, agentId, rows)).map(({ n }) => n))
  },
  *leftSince(agentId, keys, event) {
    const rows = keys.length > 0 ? yield* ask(selectLeft, agentId, event, keys) : []
    return new Set(rows.map(({ key }) => key))
  },
  remove: (agentId, _, gone, relinked) => remove(agentId, gone, relinked),
  save: (saving) => save(saving, bounds),
  begun: findUnfinished,
  record,
})
