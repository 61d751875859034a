/** The rows that a plan produces, and how they are saved. */
import { canonicalEvent, commitTo, hashAfter, hexOf } from '../../chain.ts'
import {
  type Content,
  type Effect,
  isPinned,
  type Head as MemoryHead,
  sizeOf,
} from '../../change.ts'
import type { Author } from '../../port/home.ts'
import type { EventType } from '../../port/keeping/events.ts'
import type { Deleted, Memory, Operation } from '../../port/keeping/memories.ts'
import { subjectOf } from '../../rows.ts'
import { type Ask, type Statement, statement } from '../engine/connections.ts'
import type { HomeRow } from './homes.ts'

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
  /** Of an event: the chain up to it. */
  hash: Uint8Array | null
  /** What the text and metadata were committed to. */
  content: Uint8Array | null
  salt: Uint8Array | null
  metadata: string | null
  text: string | null
}

type EventRow = Omit<LogRow, 'key' | 'version'> & { key: string | null; version: number | null }

/** The last event of a home, and the hash of the chain up to it. */
export type Head = Pick<HomeRow, 'last_event' | 'head'>

export interface Rows extends Head {
  readonly heads: ReadonlyMap<string, HeadRow>
  readonly log: readonly LogRow[]
}

/** The current state of a key, and the row of its newest version. */
export type Found = MemoryHead & { readonly n: number | null }

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
  readonly by: Author
  readonly now: number
}

/** An event to be chained. */
interface Chained {
  readonly type: EventType
  readonly key: string | null
  readonly from?: string | undefined
  readonly version: number | null
  readonly createdAt: number
  readonly content: Uint8Array | null
}

/** The hash of the next event, and the head after it. */
export function chain(head: Head, { key, version, content, ...event }: Chained, by: Author): Head {
  const id = head.last_event + 1
  const canonical = canonicalEvent({
    ...{ id, ...event, ...subjectOf(event.type, key), by, version: version ?? undefined },
    content: content ? hexOf(content) : undefined,
  })
  return { last_event: id, head: hashAfter(head.head, canonical) }
}

const NO_OTHER = { event: null, event_author: null } as const

/** `isCommitted`: an event commits to it. */
export const contentOf = (content: Content | undefined, isCommitted: boolean) => ({
  bytes: Buffer.byteLength(content?.text ?? ''),
  size: content ? sizeOf(content) : 0,
  ...(content && isCommitted ? commitTo(content) : { salt: null, content: null }),
  metadata: content?.metadata ?? null,
  text: content?.text ?? null,
})

const rowOf = (
  head: HeadRow,
  operation: string,
  by: Author,
  previous: number | null,
): Omit<LogRow, keyof ReturnType<typeof contentOf> | 'renamed_from' | 'n' | 'hash'> => ({
  ...{ previous, kept: true, key: head.key, operation, author: JSON.stringify(by), ...NO_OTHER },
  ...{ happened_at: null, version: head.version, memory_id: head.id },
  ...{ created_at: head.created_at, updated_at: head.updated_at },
})

/** An event without a version, and the head after it. */
export function eventOf(
  before: Head,
  type: EventType,
  { key, version }: { readonly key: string | null; readonly version: number | null },
  { by, now }: Done,
): { readonly row: EventRow; readonly head: Head } {
  const event = { type, key, version, createdAt: now, content: null }
  const head = chain(before, event, by)
  const author = JSON.stringify(by)
  const row = {
    ...{ n: head.last_event, previous: null, kept: false, key, renamed_from: null },
    ...{ operation: type, author, ...NO_OTHER, hash: head.head },
    ...{ happened_at: null, version, memory_id: null, created_at: null, updated_at: now },
    ...contentOf(undefined, false),
  }
  return { row, head }
}

/** `stored`: the state of the keys before the batch. Events follow on `head`. */
export function rowsOf(
  effects: readonly Effect[],
  stored: ReadonlyMap<string, HeadRow>,
  before: Head,
  { by }: Done,
): Rows {
  const heads = new Map<string, HeadRow>()
  const log: LogRow[] = []
  let head = before
  const headAt = (key: string) => heads.get(key) ?? stored.get(key)

  function leave(key: string, deleted: Deleted, n: number | null): HeadRow | undefined {
    const head = headAt(key)
    const remains = head && remainsOf(head, deleted, n)
    if (remains) heads.set(key, remains)
    return remains
  }

  function add(type: Operation, row: Omit<LogRow, 'hash'>): void {
    const { key, renamed_from, version, updated_at: createdAt, content } = row
    const from = renamed_from ?? undefined
    head = chain(head, { type, key, from, version, createdAt, content }, by)
    log.push({ ...row, hash: head.head })
  }

  function keep({ memory, operation, left }: Effect & { effect: 'keep' }, n: number): void {
    const before = headAt(left?.key ?? memory.key)
    if (left) leave(left.key, left.deleted, null)
    const after = headRowOf(memory, before, n)
    heads.set(memory.key, after)
    const row = rowOf(after, operation, by, before?.n ?? null)
    add(operation, { n, ...row, renamed_from: left?.key ?? null, ...contentOf(memory, true) })
  }

  function remove({ key, deleted }: Effect & { effect: 'delete' }, n: number): void {
    const previous = headAt(key)?.n ?? null
    const remains = leave(key, deleted, n)
    if (!remains) return
    const row = rowOf(remains, 'delete', by, previous)
    add('delete', { n, ...row, renamed_from: null, ...contentOf(undefined, false) })
  }

  for (const effect of effects) {
    const n = head.last_event + 1
    if (effect.effect === 'keep') keep(effect, n)
    else remove(effect, n)
  }
  return { heads, log, ...head }
}

type Columns = Readonly<Record<string, 'TEXT' | 'BIGINT' | 'BOOLEAN' | 'BYTEA'>>

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
  ...{ updated_at: 'BIGINT', bytes: 'BIGINT', size: 'BIGINT' },
  ...{ hash: 'BYTEA', content: 'BYTEA', salt: 'BYTEA', metadata: 'TEXT', text: 'TEXT' },
})
