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
import type { Deleted, Memory } from '../../port/keeping/memories.ts'
import type { KeptVersion } from '../../port/transfer.ts'
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
  /** The key that it was made under; null if the same. */
  made_as: string | null
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
  { createdAt, updatedAt, ...memory }: Omit<Memory, 'protected'>,
  isProtected: boolean,
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
  protected: isProtected,
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

type Bringing = Effect & { readonly effect: 'bring' }

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

const NO_OTHER = { event: null, event_author: null, happened_at: null, made_as: null } as const

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
  ...{ version: head.version, memory_id: head.id },
  ...{ created_at: head.created_at, updated_at: head.updated_at },
})

/** A version as it was, and the event of the import that brings it. */
const rowAsItWas = (
  { key, operation, by, version, id, createdAt, updatedAt, content, madeAs }: KeptVersion,
  previous: number | null,
  done: Done,
): Omit<LogRow, 'n' | 'hash'> => ({
  ...{ previous, kept: true, key, renamed_from: null, operation, version, memory_id: id },
  ...{ author: by ? JSON.stringify(by) : null, created_at: createdAt, updated_at: updatedAt },
  ...{
    event: 'import',
    event_author: JSON.stringify(done.by),
    made_as: madeAs === key ? null : (madeAs ?? null),
  },
  happened_at: updatedAt === done.now ? null : done.now,
  ...contentOf(content, true),
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
    ...{ version, memory_id: null, created_at: null, updated_at: now },
    ...contentOf(undefined, false),
  }
  return { row, head }
}

/** Rows, each of which is chained on the one before it. */
function chainRows(before: Head, by: Author) {
  const rows: LogRow[] = []
  let head = before
  return {
    rows,
    head: () => head,
    /** `row`: without its number, which it returns. */
    add(row: Omit<LogRow, 'hash' | 'n'>): number {
      const { key, renamed_from, version, content } = row
      const type = (row.event ?? row.operation) as EventType
      const createdAt = row.happened_at ?? row.updated_at
      const from = renamed_from ?? undefined
      head = chain(head, { type, key, from, version, createdAt, content }, by)
      rows.push({ n: head.last_event, ...row, hash: head.head })
      return head.last_event
    },
  }
}

/** What an import leaves of a key: its newest version, in the row `n`. */
function headAsItWas({ key, versions, ...marked }: Bringing, n: number): HeadRow {
  const { content, ...facts } = versions.at(-1) as KeptVersion
  const memory = { ...facts, key, ...(content ?? { text: '', metadata: '{}' }) }
  const row = headRowOf(memory, marked.protected, n)
  return content ? row : { ...row, deleted: true, size: 0, pinned: false }
}

/** `stored`: the state of the keys before the batch. Events follow on `head`. */
export function rowsOf(
  effects: readonly Effect[],
  stored: ReadonlyMap<string, HeadRow>,
  before: Head,
  done: Done,
): Rows {
  const { by } = done
  const heads = new Map<string, HeadRow>()
  const { add, rows: log, head } = chainRows(before, by)
  const headAt = (key: string) => heads.get(key) ?? stored.get(key)

  function leave(key: string, deleted: Deleted, n: number | null): HeadRow | undefined {
    const found = headAt(key)
    const remains = found && remainsOf(found, deleted, n)
    if (remains) heads.set(key, remains)
    return remains
  }

  function keep({ memory, operation, left, ...marked }: Effect & { effect: 'keep' }): void {
    const n = head().last_event + 1
    const before = headAt(left?.key ?? memory.key)
    if (left) leave(left.key, left.deleted, null)
    const after = headRowOf(memory, marked.protected ?? before?.protected ?? false, n)
    heads.set(memory.key, after)
    const row = rowOf(after, operation, by, before?.n ?? null)
    add({ ...row, renamed_from: left?.key ?? null, ...contentOf(memory, true) })
  }

  function remove({ key, deleted }: Effect & { effect: 'delete' }): void {
    const previous = headAt(key)?.n ?? null
    const remains = leave(key, deleted, head().last_event + 1)
    if (!remains) return
    const row = rowOf(remains, 'delete', by, previous)
    add({ ...row, renamed_from: null, ...contentOf(undefined, false) })
  }

  function bring(effect: Bringing): void {
    let n: number | null = null
    for (const version of effect.versions) n = add(rowAsItWas(version, n, done))
    heads.set(effect.key, headAsItWas(effect, head().last_event))
  }

  for (const effect of effects) {
    if (effect.effect === 'keep') keep(effect)
    else if (effect.effect === 'delete') remove(effect)
    else bring(effect)
  }
  return { heads, log, ...head() }
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
  ...{
    happened_at: 'BIGINT',
    made_as: 'TEXT',
    version: 'BIGINT',
    memory_id: 'TEXT',
    created_at: 'BIGINT',
  },
  ...{ updated_at: 'BIGINT', bytes: 'BIGINT', size: 'BIGINT' },
  ...{ hash: 'BYTEA', content: 'BYTEA', salt: 'BYTEA', metadata: 'TEXT', text: 'TEXT' },
})
