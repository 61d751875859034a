/** What changes need to know of their keys: loaded at once, once the home is locked. */

import { type Content, keyOf, type Past } from '../../change.ts'
import type { Loaded } from '../../home-log.ts'
import { markColumns } from '../../marks.ts'
import type { Change } from '../../port/memories.ts'
import { ask, statement, type Verb } from '../../verbs/verb.ts'
import { boundOf, CURRENT, chainOf, rowAt } from './log.ts'
import { type StateRow, stateOf } from './states.ts'

type StoredRow = StateRow & { text: string | null; metadata: string | null }

const storedUnder = statement<StoredRow>(`
  SELECT m.key, m.id, m.version, m.created_at, m.updated_at, m.deleted, m.size, m.pinned,
    ${markColumns('m')}, m.n, v.text, v.metadata
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

function* loadPast(
  agentId: string,
  changes: readonly Change[],
  most: number,
): Verb<ReadonlyMap<string, Past | null>> {
  const wanted = [...sought(changes)]
  if (wanted.length === 0) return new Map()
  const [keys, versions] = [wanted.map(([key]) => key), wanted.map(([, version]) => version)]
  const rows = yield* ask(pastVersions, agentId, keys, versions, boundOf(most))
  return new Map(rows.map((row) => [placeOf(row.key, row.version), pastOf(row)]))
}

/** `most`: versions retained of a memory. */
export function* load(agentId: string, changes: readonly Change[], most: number): Verb<Loaded> {
  const found = yield* ask(storedUnder, agentId, keysOf(changes))
  const rows = new Map(found.map((row) => [row.key, row]))
  const past = yield* loadPast(agentId, changes, most)
  return {
    head(key) {
      const row = rows.get(key)
      return row && stateOf(row)
    },
    content(key) {
      const { text, metadata } = rows.get(key) as StoredRow & Content
      return { text, metadata }
    },
    past: (key, version) => past.get(placeOf(key, version)),
  }
}
