/** The rows that a plan makes, and how they are saved. */
import { type Effect, isPinned, sizeOf } from '../change.ts'
import type { Deleted, Memory } from '../port/memories.ts'
import { type Ask, type Statement, statement } from './engine/connections.ts'

/** What lies under a key. */
export interface HeadRow {
  key: string
  id: string
  version: number
  created_at: number
  updated_at: number
  deleted: boolean
  size: number
  pinned: boolean
}

export interface VersionRow {
  key: string
  version: number
  seq: number
  operation: string
  id: string
  created_at: number
  updated_at: number
  bytes: number
  size: number
  metadata: string | null
  text: string | null
}

export interface EventRow {
  id: number
  type: string
  key: string
  renamed_from: string | null
  version: number
}

export interface Rows {
  /** Of renames, in their order: what was there before lies under the new key. */
  readonly moves: readonly (readonly [from: string, to: string])[]
  readonly heads: ReadonlyMap<string, HeadRow>
  readonly versions: readonly VersionRow[]
  readonly events: readonly EventRow[]
}

const headOf = ({ createdAt, updatedAt, ...memory }: Memory): HeadRow => ({
  key: memory.key,
  id: memory.id,
  version: memory.version,
  created_at: createdAt,
  updated_at: updatedAt,
  deleted: false,
  size: sizeOf(memory),
  pinned: isPinned(memory.metadata),
})

const remainsOf = (head: HeadRow, { version, deletedAt }: Deleted): HeadRow => ({
  ...head,
  version,
  updated_at: deletedAt,
  deleted: true,
  size: 0,
  pinned: false,
})

const versionOf = (memory: Memory, operation: string, seq: number): VersionRow => ({
  key: memory.key,
  version: memory.version,
  seq,
  operation,
  id: memory.id,
  created_at: memory.createdAt,
  updated_at: memory.updatedAt,
  bytes: Buffer.byteLength(memory.text),
  size: sizeOf(memory),
  metadata: memory.metadata,
  text: memory.text,
})

const deletionOf = (head: HeadRow, seq: number): VersionRow => ({
  key: head.key,
  version: head.version,
  seq,
  operation: 'delete',
  id: head.id,
  created_at: head.created_at,
  updated_at: head.updated_at,
  ...{ bytes: 0, size: 0, metadata: null, text: null },
})

/** `stored`: what lies under the keys concerned, before. Events are numbered after `lastEvent`. */
export function rowsOf(
  effects: readonly Effect[],
  stored: ReadonlyMap<string, HeadRow>,
  lastEvent: number,
): Rows {
  const moves: [from: string, to: string][] = []
  const heads = new Map<string, HeadRow>()
  let versions: VersionRow[] = []
  const events: EventRow[] = []
  const leave = (key: string, deleted: Deleted): HeadRow | undefined => {
    const head = heads.get(key) ?? stored.get(key)
    const remains = head && remainsOf(head, deleted)
    if (remains) heads.set(key, remains)
    return remains
  }

  function keep({ memory, operation, left }: Effect & { effect: 'keep' }, id: number): void {
    const { key, version } = memory
    if (left) {
      leave(left.key, left.deleted)
      moves.push([left.key, key])
      versions = versions.map((row) => (row.key === left.key ? { ...row, key } : row))
    }
    heads.set(key, headOf(memory))
    versions.push(versionOf(memory, operation, id))
    events.push({ id, type: operation, key, renamed_from: left?.key ?? null, version })
  }

  for (const [at, effect] of effects.entries()) {
    const id = lastEvent + at + 1
    if (effect.effect === 'keep') {
      keep(effect, id)
      continue
    }
    const { key, deleted } = effect
    const remains = leave(key, deleted)
    if (remains) versions.push(deletionOf(remains, id))
    events.push({ id, type: 'delete', key, renamed_from: null, version: deleted.version })
  }
  return { moves, heads, versions, events }
}

const moveVersions = statement(
  'move_versions',
  'UPDATE versions SET key = $3 WHERE agent_id = $1 AND key = $2',
)

type Columns = Readonly<Record<string, 'TEXT' | 'BIGINT' | 'BOOLEAN'>>

/** One array for each column: any number of rows is one statement. `same`: of all of them. */
export function insertRows(
  table: string,
  same: readonly string[],
  columns: Columns,
  { conflict = '', name = `save_${table}` } = {},
) {
  const names = Object.keys(columns).join(', ')
  const first = same.map((_, i) => `$${i + 1}`)
  const arrays = Object.values(columns).map((type, i) => `$${same.length + i + 1}::${type}[]`)
  const sql: Statement<never> = statement(
    name,
    `INSERT INTO ${table} (${same.join(', ')}, ${names})
     SELECT ${first.join(', ')}, ${names} FROM unnest(${arrays.join(', ')}) AS t (${names})
     ${conflict}`,
  )
  return <Row extends object>(ask: Ask, values: readonly unknown[], rows: readonly Row[]) => {
    const listed = Object.keys(columns).map((name) => rows.map((row) => row[name as keyof Row]))
    return ask(sql, ...values, ...listed)
  }
}

const saveVersions = insertRows('versions', ['agent_id', 'author'], {
  ...{ key: 'TEXT', version: 'BIGINT', seq: 'BIGINT', operation: 'TEXT', id: 'TEXT' },
  ...{ created_at: 'BIGINT', updated_at: 'BIGINT', bytes: 'BIGINT', size: 'BIGINT' },
  ...{ metadata: 'TEXT', text: 'TEXT' },
})

export const saveHeads = insertRows(
  'memories',
  ['agent_id'],
  {
    ...{ key: 'TEXT', id: 'TEXT', version: 'BIGINT', created_at: 'BIGINT', updated_at: 'BIGINT' },
    ...{ deleted: 'BOOLEAN', size: 'BIGINT', pinned: 'BOOLEAN' },
  },
  {
    conflict: `ON CONFLICT (agent_id, key) DO UPDATE
      SET id = excluded.id, version = excluded.version, created_at = excluded.created_at,
        updated_at = excluded.updated_at, deleted = excluded.deleted, size = excluded.size,
        pinned = excluded.pinned`,
  },
)

export const saveEvents = insertRows('events', ['agent_id', 'author', 'created_at'], {
  ...{ id: 'BIGINT', type: 'TEXT', key: 'TEXT', renamed_from: 'TEXT', version: 'BIGINT' },
})

export async function saveRows(
  ask: Ask,
  agentId: string,
  { moves, heads, versions, events }: Rows,
  author: string,
  now: number,
): Promise<void> {
  for (const [from, to] of moves) await ask(moveVersions, agentId, from, to)
  await saveHeads(ask, [agentId], [...heads.values()])
  await saveVersions(ask, [agentId, author], versions)
  await saveEvents(ask, [agentId, author, now], events)
}
