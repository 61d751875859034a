/** Rows as both engines select them, and their conversion to the port's types. */

import { hexOf } from './chain.ts'
import { type MarkRow, setMarks } from './marks.ts'
import type { OwnedAgent } from './port/activity.ts'
import type { EventType, HomeEvent } from './port/events.ts'
import type { ProfileAnswer } from './port/home.ts'
import {
  type AgentStatus,
  type Author,
  type Identity,
  type Profile,
  reaches,
} from './port/identity.ts'
import {
  BRIEF_BYTES,
  type MemoriesQuery,
  type Memory,
  type MemorySummary,
  type Operation,
  type VersionSummary,
} from './port/memories.ts'
import type { KeptVersion } from './port/transfer.ts'
import { beginningOf } from './search/snippet.ts'

export interface AgentRow {
  id: string
  name: string
  purpose: string
  symbol: string
  status: AgentStatus
  memory_count: number
  /** Of current texts and metadata. */
  bytes: number
  created_at: number
  updated_at: number
}

export const profileOf = (row: AgentRow): Profile => ({
  agentId: row.id,
  name: row.name,
  purpose: row.purpose,
  symbol: row.symbol,
  status: row.status,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
})

export const profileAnswer = (row: AgentRow | undefined): ProfileAnswer =>
  row
    ? {
        outcome: 'profile',
        profile: profileOf(row),
        memoryCount: row.memory_count,
        bytes: row.bytes,
      }
    : { outcome: 'revoked' }

export interface OwnedAgentRow extends AgentRow {
  reads: number
  writes: number
  conflicts: number
  refusals: number
  seen_at: number | null
}

export const ownedAgentOf = (row: OwnedAgentRow): OwnedAgent => ({
  profile: profileOf(row),
  memoryCount: row.memory_count,
  bytes: row.bytes,
  seenAt: row.seen_at ?? undefined,
  today: {
    reads: row.reads,
    writes: row.writes,
    conflicts: row.conflicts,
    refusals: row.refusals,
  },
})

export interface MemoryRow extends MarkRow {
  id: string
  key: string
  text: string
  metadata: string
  version: number
  created_at: number
  updated_at: number
}

export const memoryOf = (row: MemoryRow): Memory => ({
  id: row.id,
  key: row.key,
  text: row.text,
  metadata: row.metadata,
  version: row.version,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  ...setMarks(row),
})

export interface SummaryRow extends MarkRow {
  id: string
  key: string
  bytes: number
  metadata: string
  version: number
  created_at: number
  updated_at: number
  /** Orders by last change. */
  seq: number
  /** Null if not requested. */
  text: string | null
}

const FIRST_LINE = /\S.*/

/** `beginning`: BRIEF_BYTES characters of the text, or all of it. */
function briefOf(beginning: string, bytes: number): Pick<MemorySummary, 'text' | 'snippet'> {
  if (bytes <= BRIEF_BYTES) return { text: beginning }
  const [line] = FIRST_LINE.exec(beginning) ?? []
  return line === undefined ? {} : { snippet: beginningOf(line.trimEnd()) }
}

const summaryOf = (row: SummaryRow, isBrief: boolean): MemorySummary => ({
  id: row.id,
  key: row.key,
  bytes: row.bytes,
  metadata: row.metadata,
  version: row.version,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  change: row.seq,
  ...setMarks(row),
  ...(row.text !== null && (isBrief ? briefOf(row.text, row.bytes) : { text: row.text })),
})

/** A page of at most `limit` of these rows; one row more shows that there is a next page. */
export function pageOf(
  rows: Iterable<SummaryRow>,
  { order, before, limit, maxBytes, brief = false }: MemoriesQuery,
): { readonly memories: readonly MemorySummary[]; readonly next: string | undefined } {
  const memories: MemorySummary[] = []
  let size = 0
  let last: SummaryRow | undefined
  const inOrder = () => (before === undefined ? memories : memories.toReversed())
  for (const row of rows) {
    if (last && (memories.length === limit || size >= maxBytes)) {
      return { memories: inOrder(), next: order === 'key' ? last.key : String(last.seq) }
    }
    memories.push(summaryOf(row, brief))
    size +=
      Buffer.byteLength(row.metadata) +
      (row.text === null ? 0 : Math.min(row.bytes, 3 * row.text.length))
    last = row
  }
  return { memories: inOrder(), next: undefined }
}

export interface VersionRow {
  /** Its row in the log. */
  n: number
  previous: number | null
  version: number
  operation: Operation
  author: string | null
  id: string
  created_at: number
  updated_at: number
  bytes: number
  size: number
  /** Null if no event committed to the version. */
  salt: Uint8Array | null
}

export const saltIn = (salt: Uint8Array | null): string | undefined =>
  salt ? hexOf(salt) : undefined

export const authorIn = (author: string | null): Author | undefined =>
  author === null ? undefined : (JSON.parse(author) as Author)

const versionOf = (row: Omit<VersionRow, 'n' | 'previous' | 'salt'>): VersionSummary => ({
  version: row.version,
  operation: row.operation,
  bytes: row.bytes,
  by: authorIn(row.author),
  createdAt: row.updated_at,
})

type PagedRow = Omit<VersionRow, 'n' | 'previous' | 'salt'> & { readonly key: string }

/** `rows`: one more than the limit, if there are more. Those out of reach leave the page shorter. */
export function versionPage(identity: Identity, rows: readonly PagedRow[], limit: number) {
  const page = rows.slice(0, limit)
  const versions = page.filter(({ key }) => reaches(identity, key)).map(versionOf)
  return { versions, next: rows.length > limit ? page.at(-1)?.version : undefined }
}

export interface KeptRow extends Omit<VersionRow, 'n' | 'previous' | 'bytes' | 'size'> {
  key: string
  /** The key that the version was made under. */
  made_as: string
  /** Null of a deletion, and if it is part of the response already. */
  text: string | null
  metadata: string | null
}

export const keptVersionOf = ({ text, metadata, ...row }: KeptRow): KeptVersion => ({
  key: row.key,
  madeAs: row.made_as === row.key ? undefined : row.made_as,
  id: row.id,
  version: row.version,
  operation: row.operation,
  by: authorIn(row.author),
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  salt: saltIn(row.salt),
  content: text === null || metadata === null ? undefined : { text, metadata },
})

export interface EventRow {
  id: number
  type: EventType
  /** The subject: a memory's key, a named key as `namedKeyText`, or as `rollbackText`. */
  key: string | null
  renamed_from: string | null
  version: number | null
  author: string | null
  created_at: number
  content: Uint8Array | null
  /** Null only of an event whose transaction computes it. */
  hash: Uint8Array | null
}

type KeyInEvent = NonNullable<HomeEvent['namedKey']>

export const namedKeyText = ({ id, name }: KeyInEvent): string => JSON.stringify({ id, name })

const ofNamedKeys: readonly EventType[] = [
  'create_key',
  'revoke_key',
  'reuse_token',
  'suspect_theft',
]

type Rollback = NonNullable<HomeEvent['rollback']>

export const rollbackText = ({ to, parts }: Rollback): string => JSON.stringify({ to, parts })

/** `key`: as the row has it. */
export function subjectOf(
  type: EventType,
  key: string | null,
): Pick<HomeEvent, 'key' | 'namedKey' | 'rollback'> {
  if (type === 'rollback') {
    return { key: undefined, namedKey: undefined, rollback: JSON.parse(key ?? '') as Rollback }
  }
  if (!ofNamedKeys.includes(type)) return { key: key ?? undefined, namedKey: undefined }
  return { key: undefined, namedKey: key === null ? undefined : (JSON.parse(key) as KeyInEvent) }
}

export const eventOf = (row: EventRow): HomeEvent => ({
  id: row.id,
  type: row.type,
  ...subjectOf(row.type, row.key),
  from: row.renamed_from ?? undefined,
  version: row.version ?? undefined,
  content: row.content ? hexOf(row.content) : undefined,
  by: authorIn(row.author),
  createdAt: row.created_at,
  hash: row.hash ? hexOf(row.hash) : undefined,
})

/** Greater than every key with the prefix: no key contains DEL. */
export const endOf = (prefix: string): string => `${prefix}\u007f`
