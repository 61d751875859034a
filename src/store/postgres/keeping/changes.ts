/** Batches of changes, in one transaction that locks the home first. */
import { authorOf } from '../../answers.ts'
import { type Content, keyOf, type Past, textFateOf } from '../../change.ts'
import { type Plan, plan, type Stored } from '../../plan.ts'
import type { Identity } from '../../port/home.ts'
import type { AnswerBound, Change, ChangesAnswer } from '../../port/keeping/memories.ts'
import type { HomeBounds } from '../../port/store.ts'
import { vectorFates } from '../../verbs/kept-vectors.ts'
import { type Ask, type Connections, statement } from '../engine/connections.ts'
import { run } from '../engine/run.ts'
import { type HeadRow, headOf, rowsOf, saveHeads, saveLog } from './effects.ts'
import { type HomeRow, holdHome, saveHome } from './homes.ts'
import { boundOf, CURRENT, chainOf, rowAt } from './log.ts'
import { prune } from './prune.ts'

type StoredRow = HeadRow & { text: string | null; metadata: string | null }

const storedUnder = statement<StoredRow>(`
  SELECT m.key, m.id, m.version, m.created_at, m.updated_at, m.deleted, m.size, m.pinned,
    m.protected, m.n, v.text, v.metadata
  FROM memories m ${CURRENT}
  WHERE m.agent_id = $1 AND m.key = ANY($2::TEXT[])`)

/** `key`: that of the memory; `made_as`: that the version was made under. */
type PastRow = { key: string; version: number; id: string; made_as: string; created_at: number } & (
  | Content
  /** Of a deletion. */
  | { text: null; metadata: null }
)

/** Versions that are retained, i.e. with fewer than the limit of newer ones. */
const pastVersions = statement<PastRow>(`
  WITH RECURSIVE ${chainOf('m.key = ANY($2::TEXT[])', '$4')}
  SELECT q.key, v.version, v.memory_id AS id, coalesce(v.made_as, v.key) AS made_as, v.created_at, v.text, v.metadata
  FROM (SELECT DISTINCT * FROM unnest($2::TEXT[], $3::BIGINT[])) AS q (key, version)
  JOIN chain c ON c.under = q.key AND c.version = q.version
  CROSS JOIN ${rowAt('$1', 'c.n')} AS v`)

const keysOf = (changes: readonly Change[]): string[] => [
  ...new Set(changes.flatMap((each) => (each.verb === 'rename' ? [each.from, each.to] : each.key))),
]

/**
 * The versions to restore, under every key that an earlier rename in the batch may have moved them
 * from.
 */
function* sought(changes: readonly Change[]): Generator<readonly [key: string, version: number]> {
  const origins = new Map<string, ReadonlySet<string>>()
  const originsOf = (key: string) => origins.get(key) ?? new Set([key])
  for (const each of changes) {
    if (each.verb === 'rename') {
      origins.set(each.to, originsOf(each.to).union(originsOf(each.from)))
    }
    if (each.verb !== 'restore') continue
    for (const key of originsOf(keyOf(each))) yield [key, each.version]
  }
}

const placeOf = (key: string, version: number): string => `${version} ${key}`

const pastOf = ({ id, made_as: key, created_at: createdAt, ...content }: PastRow): Past | null =>
  content.text === null
    ? null
    : { id, key, createdAt, text: content.text, metadata: content.metadata }

async function loadPast(
  ask: Ask,
  agentId: string,
  changes: readonly Change[],
  most: number,
): Promise<ReadonlyMap<string, Past | null>> {
  const wanted = [...sought(changes)]
  if (wanted.length === 0) return new Map()
  const [keys, versions] = [wanted.map(([key]) => key), wanted.map(([, version]) => version)]
  const rows = await ask(pastVersions, agentId, keys, versions, boundOf(most))
  return new Map(rows.map((row) => [placeOf(row.key, row.version), pastOf(row)]))
}

interface Loaded extends Stored {
  readonly rows: ReadonlyMap<string, HeadRow>
}

async function load(
  ask: Ask,
  agentId: string,
  changes: readonly Change[],
  most: number,
): Promise<Loaded> {
  const found = await ask(storedUnder, agentId, keysOf(changes))
  const rows = new Map(found.map((row) => [row.key, row]))
  const past = await loadPast(ask, agentId, changes, most)
  return {
    rows,
    head(key) {
      const row = rows.get(key)
      return row && headOf(row)
    },
    content(key) {
      const { text, metadata } = rows.get(key) as StoredRow & Content
      return { text, metadata }
    },
    past: (key, version) => past.get(placeOf(key, version)),
  }
}

/** The author and the time of a change. */
interface Doing {
  readonly ask: Ask
  readonly identity: Identity
  readonly home: HomeRow
  readonly now: number
}

async function carryOut(
  { ask, identity, home, now }: Doing,
  { effects, ledger }: Plan,
  stored: Loaded,
  bounds: HomeBounds,
): Promise<void> {
  const { agentId } = identity
  const from = home.last_event
  const rows = rowsOf(effects, stored.rows, home, { by: authorOf(identity), now })
  const { head, last_event: to } = rows
  await saveHeads(ask, [agentId], [...rows.heads.values()])
  await saveLog(ask, [agentId], rows.log)
  await saveHome(ask, agentId, { ...ledger, last_event: to, head }, now, effects.length)
  if (home.vectors > 0) {
    await run(ask, vectorFates.vectorsFollow(agentId, effects.map(textFateOf)))
  }
  const { bytes, history, vectors, deleted } = ledger
  const grown = { made: rows.log, bytes: bytes + history + vectors, deleted, events: { from, to } }
  await prune(ask, agentId, grown, bounds)
}

async function change(
  doing: Doing,
  changes: readonly Change[],
  bounds: HomeBounds,
  bound: AnswerBound | undefined,
): Promise<ChangesAnswer> {
  const { ask, identity, home, now } = doing
  const stored = await load(ask, identity.agentId, changes, bounds.versions)
  const planned = plan(identity, changes, stored, home, bounds, now, bound)
  if ('faults' in planned) return { outcome: 'unchanged', faults: planned.faults }
  if (planned.effects.length > 0) await carryOut(doing, planned, stored, bounds)
  return { outcome: 'changed', results: planned.results }
}

export function changeVerb({ transact }: Connections, committed: () => void, bounds: HomeBounds) {
  return async (
    identity: Identity,
    changes: readonly Change[],
    now: number,
    bound?: AnswerBound,
  ): Promise<ChangesAnswer> => {
    const answer = await transact(async (ask): Promise<ChangesAnswer> => {
      const held = await holdHome(ask, identity)
      if (held.outcome !== 'held') return held
      return change({ ask, identity, home: held.home, now }, changes, bounds, bound)
    })
    const changed = answer.outcome === 'changed' && changes.some(({ verb }) => verb !== 'read')
    if (changed) committed()
    return answer
  }
}
