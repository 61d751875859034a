/** The current state of each key. */
import type { KeyState, Place } from '../../home-log.ts'
import { MARK_TYPES, type MarkRow, markColumns, marksOf } from '../../marks.ts'
import { MARKS } from '../../port/memories.ts'
import { ask, statement, type Verb } from '../../verbs/verb.ts'
import { insertRows } from './insert-rows.ts'

export interface StateRow extends MarkRow {
  key: string
  id: string
  version: number
  created_at: number
  updated_at: number
  deleted: boolean
  size: number
  pinned: boolean
  /** The row of the newest version; null if none is retained. */
  n: number | null
}

/** A row has the number of its event. */
export const rowOf = (place: Place | null): number | null => {
  if (!place) return null
  return 'row' in place ? place.row : place.event
}

/** Versions are not counted here. */
export const stateOf = ({
  created_at: createdAt,
  updated_at: updatedAt,
  n,
  ...row
}: StateRow): KeyState => ({
  ...{ id: row.id, version: row.version, createdAt, updatedAt, deleted: row.deleted },
  ...{ size: row.size, pinned: row.pinned, marks: marksOf(row) },
  ...{ kept: n !== null, place: n === null ? null : { row: n } },
  ...{ change: n ?? 0, count: 0, run: 0 },
})

const stateRowOf = (key: string, state: KeyState): StateRow => ({
  ...{ key, id: state.id, version: state.version, n: rowOf(state.place) },
  ...{ created_at: state.createdAt, updated_at: state.updatedAt, deleted: state.deleted },
  ...{ size: state.size, pinned: state.pinned, ...state.marks },
})

const select = statement<StateRow>(`
  SELECT key, id, version, created_at, updated_at, deleted, size, pinned, ${markColumns('memories')}, n
  FROM memories WHERE agent_id = $1 AND key = ANY($2::TEXT[])`)

export function* readStates(
  agentId: string,
  keys: readonly string[],
): Verb<ReadonlyMap<string, KeyState>> {
  const rows = keys.length > 0 ? yield* ask(select, agentId, keys) : []
  return new Map(rows.map((row) => [row.key, stateOf(row)]))
}

const save = insertRows(
  'memories',
  ['agent_id'],
  {
    ...{ key: 'TEXT', id: 'TEXT', version: 'BIGINT', created_at: 'BIGINT', updated_at: 'BIGINT' },
    ...{ deleted: 'BOOLEAN', size: 'BIGINT', pinned: 'BOOLEAN', ...MARK_TYPES, n: 'BIGINT' },
  },
  `ON CONFLICT (agent_id, key) DO UPDATE
   SET id = excluded.id, version = excluded.version, created_at = excluded.created_at,
     updated_at = excluded.updated_at, deleted = excluded.deleted, size = excluded.size,
     pinned = excluded.pinned, n = excluded.n, ${MARKS.map((mark) => `${mark} = excluded.${mark}`).join(', ')}`,
)

export const saveStates = (agentId: string, states: ReadonlyMap<string, KeyState>): Verb<unknown> =>
  save(
    [agentId],
    Array.from(states, ([key, state]) => stateRowOf(key, state)),
  )
