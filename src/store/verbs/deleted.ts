/** What was deleted and can be restored. */
import { type Identity, reaches } from '../port/identity.ts'
import type { DeletedAnswer, DeletedMemory, DeletedQuery } from '../port/memories.ts'
import { authorIn, endOf } from '../rows.ts'
import { refuse } from './controls.ts'
import { ask, statement, type Verb } from './verb.ts'

interface DeletedRow {
  key: string
  version: number
  deleted_at: number
  author: string | null
  /** The row of the version before the deletion, if any is retained. */
  previous: number | null
}

/** Columns are looked up by primary key, since a join may read the whole log of a home. */
const list = statement<DeletedRow>(`
  SELECT m.key, m.version, m.updated_at AS deleted_at,
    (SELECT l.author FROM log l WHERE l.agent_id = $1 AND l.n = m.n) AS author,
    (SELECT l.previous FROM log l WHERE l.agent_id = $1 AND l.n = m.n) AS previous
  FROM memories m
  WHERE m.agent_id = $1 AND m.key > $2 AND m.key >= $3 AND m.key < $4 AND m.deleted
    AND m.n IS NOT NULL
  ORDER BY m.key LIMIT CAST($5 AS BIGINT)`)

interface EarlierRow {
  /** That it was made under. */
  key: string
  version: number
  bytes: number | null
  hasText: boolean | number
  previous: number | null
}

const earlier = statement<EarlierRow>(`
  SELECT key, version, bytes, text IS NOT NULL AS "hasText", previous FROM log
  WHERE agent_id = $1 AND n = $2`)

/** Usually the version before the deletion; that may be a deletion too, if some were erased. */
function* lastText(identity: Identity, row: DeletedRow): Verb<EarlierRow | undefined> {
  const { agentId } = identity
  for (let { previous } = row; previous !== null; ) {
    const [found] = yield* ask(earlier, agentId, previous)
    if (!found || found.hasText) return found && reaches(identity, found.key) ? found : undefined
    previous = found.previous
  }
  return undefined
}

export const deletedReads = {
  *listDeleted(identity: Identity, { prefix, after, limit }: DeletedQuery): Verb<DeletedAnswer> {
    const refused = yield* refuse(identity)
    if (refused) return refused
    const { agentId } = identity
    const rows = yield* ask(list, agentId, after ?? '', prefix, endOf(prefix), limit + 1)
    const memories: DeletedMemory[] = []
    for (const row of rows.slice(0, limit)) {
      const last = yield* lastText(identity, row)
      if (!last) continue
      memories.push({
        ...{ key: row.key, version: row.version, deletedAt: row.deleted_at },
        ...{ by: authorIn(row.author), lastVersion: last.version, bytes: last.bytes ?? 0 },
      })
    }
    const next = rows.length > limit ? rows[limit - 1]?.key : undefined
    return { outcome: 'deleted', memories, next }
  },
}
