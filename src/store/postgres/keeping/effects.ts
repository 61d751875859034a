/** The rows that a plan produces, and how they are saved. */
import { type Content, type Effect, type Head, isPinned, sizeOf } from '../../change.ts'
import type { Deleted, Memory } from '../../port/keeping/memories.ts'
import { type Ask, type Statement, statement } from '../engine/connections.ts'

/** The current state of a key. */
export interface HeadRow {
  key: string
  id: string
  version: number
  created_at: number
  updated_at: number
  deleted: boolean
  size: number
  pinned: boolean
  protected: boolean
  /** The row of the newest version; null if none is retained. */
  n: number | null
}

/** An event, and the version that it created. */
export interface LogRow {
  n: number
  previous: number | null
  /** Whether the row is a version. */
  kept: boolean
  key: string
  renamed_from: string | null
  operation: string
  author: string | null
  /** Null if the same as the version's. */
  event: string | null
  event_author: string | null
  happened_at: number | null
  version: number
  memory_id: string | null
  created_at: number | null
  updated_at: number
  bytes: number
  size: number
  metadata: string | null
  text: string | null
}

type EventRow = Omit<LogRow, 'version'> & { version: number | null }

export interface Rows {
  readonly heads: ReadonlyMap<string, HeadRow>
  readonly log: readonly LogRow[]
}

/** The current state of a key, and the row of its newest version. */
export type Found = Head & { readonly n: number | null }

export const headOf = ({
  created_at: createdAt,
  updated_at: updatedAt,
  ...row
}: HeadRow): Found => ({
  ...{ id: row.id, version: row.version, createdAt, updatedAt },
  ...{ deleted: row.deleted, size: row.size, kept: row.n !== null, n: row.n },
  protected: row.protected,
})

const headRowOf = (
  { createdAt, updatedAt, ...memory }: Memory,
  before: HeadRow | undefined,
  n: number,
): HeadRow => ({
  key: memory.key,
  id: memory.id,
  version: memory.version,
  created_at: createdAt,
  updated_at: updatedAt,
  deleted: false,
  size: sizeOf(memory),
  pinned: isPinned(memory.metadata),
  protected: before?.protected ?? false,
  n,
})

/** `n`: the row of the deletion; null if the versions moved to another key. */
export const remainsOf = (
  head: HeadRow,
  { version, deletedAt }: Deleted,
  n: number | null,
): HeadRow => ({
  ...head,
  version,
  updated_at: deletedAt,
  deleted: true,
  size: 0,
  pinned: false,
  protected: false,
  n,
})

/** What all changes of a batch share. */
export interface Done {
  readonly author: string
  readonly now: number
}

const NO_OTHER = { event: null, event_author: null } as const

export const contentOf = (content: Content | undefined) => ({
  bytes: Buffer.byteLength(content?.text ?? ''),
  size: content ? sizeOf(content) : 0,
  metadata: content?.metadata ?? null,
  text: content?.text ?? null,
})

const rowOf = (
  head: HeadRow,
  operation: string,
  author: string,
  previous: number | null,
): Omit<LogRow, keyof ReturnType<typeof contentOf> | 'renamed_from' | 'n'> => ({
  ...{ previous, kept: true, key: head.key, operation, author, ...NO_OTHER },
  ...{ happened_at: null, version: head.version, memory_id: head.id },
  ...{ created_at: head.created_at, updated_at: head.updated_at },
})

/** An event without a version. */
export const eventOf = (
  n: number,
  operation: string,
  { key, version }: { readonly key: string; readonly version: number | null },
  { author, now }: Done,
): EventRow => ({
  ...{ n, previous: null, kept: false, key, renamed_from: null, operation, author, ...NO_OTHER },
  ...{ happened_at: null, version, memory_id: null, created_at: null, updated_at: now },
  ...contentOf(undefined),
})

/** `stored`: the state of the keys before the batch. Events are numbered from `lastEvent` + 1. */
export function rowsOf(
  effects: readonly Effect[],
  stored: ReadonlyMap<string, HeadRow>,
  lastEvent: number,
  done: Done,
): Rows {
  const heads = new Map<string, HeadRow>()
  const log: LogRow[] = []
  const headAt = (key: string) => heads.get(key) ?? stored.get(key)

  function leave(key: string, deleted: Deleted, n: number | null): HeadRow | undefined {
    const head = headAt(key)
    const remains = head && remainsOf(head, deleted, n)
    if (remains) heads.set(key, remains)
    return remains
  }

  function keep({ memory, operation, left }: Effect & { effect: 'keep' }, n: number): void {
    const before = headAt(left?.key ?? memory.key)
    if (left) leave(left.key, left.deleted, null)
    const head = headRowOf(memory, before, n)
    heads.set(memory.key, head)
    const row = rowOf(head, operation, done.author, before?.n ?? null)
    log.push({ n, ...row, renamed_from: left?.key ?? null, ...contentOf(memory) })
  }

  function remove({ key, deleted }: Effect & { effect: 'delete' }, n: number): void {
    const previous = headAt(key)?.n ?? null
    const remains = leave(key, deleted, n)
    if (!remains) return
    const row = rowOf(remains, 'delete', done.author, previous)
    log.push({ n, ...row, renamed_from: null, ...contentOf(undefined) })
  }

  for (const [at, effect] of effects.entries()) {
    const n = lastEvent + at + 1
    if (effect.effect === 'keep') keep(effect, n)
    else remove(effect, n)
  }
  return { heads, log }
}

type Columns = Readonly<Record<string, 'TEXT' | 'BIGINT' | 'BOOLEAN'>>

/**
 * One array per column, so that any number of rows is one statement. `same`: columns shared by all.
 */
export function insertRows(
  table: string,
  same: readonly string[],
  columns: Columns,
  conflict = '',
) {
  const names = Object.keys(columns).join(', ')
  const first = same.map((_, i) => `$${i + 1}`)
  const arrays = Object.values(columns).map((type, i) => `$${same.length + i + 1}::${type}[]`)
  const sql: Statement<never> = statement(
    `save_${table}`,
    `INSERT INTO ${table} (${same.join(', ')}, ${names})
     SELECT ${first.join(', ')}, ${names} FROM unnest(${arrays.join(', ')}) AS t (${names})
     ${conflict}`,
  )
  return <Row extends object>(ask: Ask, values: readonly unknown[], rows: readonly Row[]) => {
    const listed = Object.keys(columns).map((name) => rows.map((row) => row[name as keyof Row]))
    return ask(sql, ...values, ...listed)
  }
}

export const saveHeads = insertRows(
  'memories',
  ['agent_id'],
  {
    ...{ key: 'TEXT', id: 'TEXT', version: 'BIGINT', created_at: 'BIGINT', updated_at: 'BIGINT' },
    ...{ deleted: 'BOOLEAN', size: 'BIGINT', pinned: 'BOOLEAN', protected: 'BOOLEAN', n: 'BIGINT' },
  },
  `ON CONFLICT (agent_id, key) DO UPDATE
   SET id = excluded.id, version = excluded.version, created_at = excluded.created_at,
     updated_at = excluded.updated_at, deleted = excluded.deleted, size = excluded.size,
     pinned = excluded.pinned, protected = excluded.protected, n = excluded.n`,
)

export const saveLog = insertRows('log', ['agent_id'], {
  ...{ n: 'BIGINT', previous: 'BIGINT', kept: 'BOOLEAN', key: 'TEXT', renamed_from: 'TEXT' },
  ...{ operation: 'TEXT', author: 'TEXT', event: 'TEXT', event_author: 'TEXT' },
  ...{ happened_at: 'BIGINT', version: 'BIGINT', memory_id: 'TEXT', created_at: 'BIGINT' },
  ...{ updated_at: 'BIGINT', bytes: 'BIGINT', size: 'BIGINT', metadata: 'TEXT', text: 'TEXT' },
})
