/** Reads of memories: current, in lists, and earlier versions. */

import type { DatabaseSync } from 'node:sqlite'
import { deletedOf } from '../../change.ts'
import { markColumns, marksIn, NO_MARKS, setMarks } from '../../marks.ts'
import type { Identity } from '../../port/identity.ts'
import {
  BRIEF_BYTES,
  type MemoriesAnswer,
  type MemoriesQuery,
  type ReadAnswer,
} from '../../port/memories.ts'
import { endOf, pageOf, type SummaryRow } from '../../rows.ts'
import { prepare, prepareTuples } from '../engine/connection.ts'
import type { Refuse } from '../identities.ts'
import { prepareHomes } from './homes.ts'
import { prepareKeyState } from './states.ts'

type MemoryTuple = [
  id: string,
  text: string,
  metadata: string,
  version: number,
  createdAt: number,
  updatedAt: number,
  ...marks: number[],
]

/** The place of the first mark. */
const MARKS_FROM = 6

export function prepareReadMemory(db: DatabaseSync, refuse: Refuse) {
  const memory = prepareTuples<MemoryTuple>(
    db,
    `SELECT m.id, v.text, v.metadata, m.version, m.created_at, m.updated_at, ${markColumns('m')}
     FROM memories m JOIN log v ON v.n = m.n
     WHERE m.agent_id = ? AND m.key = ? AND m.deleted = 0`,
  )
  const state = prepareKeyState(db)
  return (identity: Identity, key: string): ReadAnswer => {
    const refused = refuse(identity)
    if (refused) return refused
    const row = memory.get(identity.agentId, key)
    if (!row) return { outcome: 'missing', deleted: deletedOf(state(identity.agentId, key)) }
    const [id, text, metadata, version, createdAt, updatedAt] = row
    const found = { id, key, text, metadata, version, createdAt, updatedAt }
    const marks = marksIn(row, MARKS_FROM)
    return {
      outcome: 'found',
      memory: marks === NO_MARKS ? found : { ...found, ...setMarks(marks) },
    }
  }
}

const TEXTS = {
  none: 'NULL AS text',
  brief: `substr(v.text, 1, ${BRIEF_BYTES}) AS text`,
  whole: 'v.text',
} as const

type Texts = keyof typeof TEXTS

const columns = (texts: Texts): string => `
  m.id, m.key, v.bytes, v.metadata, m.version, m.created_at, m.updated_at, ${markColumns('m')},
  m.change AS seq,
  ${TEXTS[texts]}`

/** The direction of a page from its cursor. */
type Way = 'on' | 'back'

const byKey = (texts: Texts, way: Way): string => `
  SELECT ${columns(texts)} FROM memories m JOIN log v ON v.n = m.n
  WHERE m.agent_id = ? AND m.key ${way === 'on' ? '>' : '<'} ? AND m.key >= ? AND m.key < ?
    AND m.deleted = 0 AND m.pinned >= ?
  ORDER BY m.key ${way === 'on' ? 'ASC' : 'DESC'} LIMIT +?`

/** Sorts small rows; the rest is read for listed rows only. */
function byChange(texts: Texts, way: Way): string {
  const order = way === 'on' ? 'DESC' : 'ASC'
  return `
  SELECT ${columns(texts)} FROM (
    SELECT key, change FROM memories
    WHERE agent_id = ?1 AND change ${way === 'on' ? '<' : '>'} ?2 AND key >= ?3 AND key < ?4
      AND deleted = 0 AND pinned >= ?5
    ORDER BY change ${order} LIMIT +?6
  ) listed
  CROSS JOIN memories m ON m.agent_id = ?1 AND m.key = listed.key
  JOIN log v ON v.n = m.n ORDER BY listed.change ${order}`
}

const FIRST = { key: '', changed: Number.MAX_SAFE_INTEGER } as const

function startOf({ order, before, after }: MemoriesQuery): string | number {
  const place = before ?? after ?? FIRST[order]
  return order === 'key' ? place : Number(place)
}

export function prepareListMemories(db: DatabaseSync, refuse: Refuse) {
  const each = (sql: (texts: Texts) => string) => ({
    none: prepare<SummaryRow>(db, sql('none')),
    brief: prepare<SummaryRow>(db, sql('brief')),
    whole: prepare<SummaryRow>(db, sql('whole')),
  })
  const ways = (sql: (texts: Texts, way: Way) => string) => ({
    on: each((texts) => sql(texts, 'on')),
    back: each((texts) => sql(texts, 'back')),
  })
  const lists = { key: ways(byKey), changed: ways(byChange) }
  const homes = prepareHomes(db)

  return (identity: Identity, query: MemoriesQuery): MemoriesAnswer => {
    const refused = refuse(identity)
    if (refused) return refused
    const { agentId } = identity
    const { prefix, order, before, limit, pinned = false, whole, brief } = query
    const way = before === undefined ? 'on' : 'back'
    const list = lists[order][way][whole ? 'whole' : brief ? 'brief' : 'none']
    const start = startOf(query)
    const rows = list.iterate(agentId, start, prefix, endOf(prefix), pinned ? 1 : 0, limit + 1)
    const page = pageOf(rows, query)
    return { outcome: 'memories', ...page, lastEvent: homes.read(agentId).lastEvent }
  }
}
