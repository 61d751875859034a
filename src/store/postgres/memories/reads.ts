/** Reads of current memories, by key or in lists. */
import { markColumns } from '../../marks.ts'
import type { Identity } from '../../port/identity.ts'
import {
  BRIEF_BYTES,
  type Deleted,
  type MemoriesAnswer,
  type MemoriesQuery,
  type ReadAnswer,
} from '../../port/memories.ts'
import { endOf, type MemoryRow, memoryOf, pageOf, type SummaryRow } from '../../rows.ts'
import { together } from '../engine/batcher.ts'
import { type Connections, statement } from '../engine/connections.ts'
import type { Ask } from '../engine/session.ts'
import { type AdmittedRow, refusedBy } from '../identities.ts'
import { CURRENT, rowAt } from './log.ts'

/** A deleted memory has no text. */
export type FoundRow = AdmittedRow & ((MemoryRow & { deleted: boolean }) | { id: null })

const FOUND = `c.kind, c.status AS credential_status,
  m.id, m.key, v.text, v.metadata, m.version, m.created_at, m.updated_at, ${markColumns('m')},
  m.deleted`

/** The agent's status is stored with each credential, see schema.sql. */
export const readMemory = statement<FoundRow>(`
  SELECT ${FOUND}
  FROM credentials c LEFT JOIN memories m ON m.agent_id = c.agent_id AND m.key = $3 ${CURRENT}
  WHERE c.agent_id = $1 AND c.token_hash = $2`)

/** The same for several readers at once; the first column is the index in the list. */
const readMemories = statement<{ place: number } & FoundRow>(`
  SELECT q.place, ${FOUND}
  FROM unnest($1::TEXT[], $2::TEXT[], $3::TEXT[]) WITH ORDINALITY
    AS q (agent_id, token_hash, key, place)
  JOIN credentials c ON c.agent_id = q.agent_id AND c.token_hash = q.token_hash
  LEFT JOIN memories m ON m.agent_id = q.agent_id AND m.key = q.key
  LEFT JOIN ${rowAt('m.agent_id', 'm.n')} AS v ON true`)

interface Reading {
  readonly identity: Identity
  readonly key: string
}

export const deletedIn = (row: FoundRow | undefined): Deleted | undefined =>
  row && row.id !== null && row.deleted
    ? { version: row.version, deletedAt: row.updated_at }
    : undefined

const answerOf = (row: FoundRow | undefined): ReadAnswer => {
  const refused = refusedBy(row)
  if (refused) return refused
  return row && row.id !== null && !row.deleted
    ? { outcome: 'found', memory: memoryOf(row) }
    : { outcome: 'missing', deleted: deletedIn(row) }
}

async function readOne(ask: Ask, { identity, key }: Reading): Promise<ReadAnswer> {
  const [row] = await ask(readMemory, identity.agentId, identity.tokenHash, key)
  return answerOf(row)
}

async function readSeveral(ask: Ask, readings: readonly Reading[]): Promise<ReadAnswer[]> {
  const rows = await ask(
    readMemories,
    readings.map(({ identity }) => identity.agentId),
    readings.map(({ identity }) => identity.tokenHash),
    readings.map(({ key }) => key),
  )
  const byPlace = new Map(rows.map((row) => [row.place, row]))
  return readings.map((_, i) => answerOf(byPlace.get(i + 1)))
}

/** Four batches keep the server busy; a batch of 64 texts is at most a megabyte. */
const READINGS = { atOnce: 4, inGroup: 64 }

/** Concurrent reads share a statement, which costs both sides less than one for each. */
export const readTogether = (ask: Ask): ((reading: Reading) => Promise<ReadAnswer>) =>
  together(READINGS, async (readings) =>
    readings.length === 1 && readings[0]
      ? [await readOne(ask, readings[0])]
      : readSeveral(ask, readings),
  )

/** Null if the reader is allowed and the memory does not exist. */
type ListedRow = AdmittedRow & { last_event: number } & (SummaryRow | { key: null })

/**
 * One row more than requested, within the byte limit plus one row: the extra row shows that there
 * are more. Only texts that are returned are read.
 */
const list = (after: string, order: string) =>
  statement<ListedRow>(
    `SELECT c.kind, c.status AS credential_status, h.last_event, l.id, l.key, l.bytes, l.metadata,
       l.version, l.created_at, l.updated_at, ${markColumns('l')}, l.seq, CASE WHEN $9 THEN l.text WHEN $10 THEN left(l.text, ${BRIEF_BYTES}) END AS text
     FROM credentials c JOIN homes h ON h.agent_id = c.agent_id
     LEFT JOIN LATERAL (
       SELECT found.*, sum(CASE WHEN $9 THEN size ELSE size - bytes END) OVER (
         ORDER BY ${order} ROWS BETWEEN UNBOUNDED PRECEDING AND 2 PRECEDING
       ) AS size_before
       FROM (
         SELECT m.id, m.key, v.bytes, v.size, v.metadata, m.version, m.created_at, m.updated_at,
           ${markColumns('m')}, m.seq, v.text
         FROM (
           SELECT *, n AS seq FROM memories
           WHERE agent_id = $1 AND key >= $4 AND key < $5 AND ${after}
             AND NOT deleted AND (pinned OR NOT $6::BOOLEAN)
           ORDER BY ${order} LIMIT $7
         ) AS m ${CURRENT}
       ) AS found
     ) AS l ON coalesce(l.size_before, 0) < $8
     WHERE c.agent_id = $1 AND c.token_hash = $2
     ORDER BY ${order}`,
  )

const changedOn = (comparison: string, order: string) => list(`n ${comparison} $3::BIGINT`, order)

const keyedOn = (comparison: string, order: string) => list(`key ${comparison} $3::TEXT`, order)

/** The direction of a page from its cursor. */
const lists = {
  key: {
    on: keyedOn('>', 'key'),
    back: keyedOn('<', 'key DESC'),
  },
  changed: {
    on: changedOn('<', 'seq DESC'),
    back: changedOn('>', 'seq'),
  },
}

const FIRST = { key: '', changed: String(Number.MAX_SAFE_INTEGER) } as const

function startOf({ order, before, after }: MemoriesQuery): string {
  const place = before ?? after ?? FIRST[order]
  return order === 'key' ? place : String(Number(place))
}

async function listMemories(
  ask: Ask,
  { agentId, tokenHash }: Identity,
  query: MemoriesQuery,
): Promise<MemoriesAnswer> {
  const { prefix, order, before, limit, pinned = false, maxBytes, whole, brief = false } = query
  const range = [startOf(query), prefix, endOf(prefix)]
  const values = [...range, pinned, limit + 1, maxBytes, whole, brief]
  const way = before === undefined ? 'on' : 'back'
  const rows = await ask(lists[order][way], agentId, tokenHash, ...values)
  const refused = refusedBy(rows[0])
  if (refused) return refused
  const page = pageOf(
    rows.filter((row) => row.key !== null),
    query,
  )
  return { outcome: 'memories', ...page, lastEvent: rows[0]?.last_event ?? 0 }
}

/** `sharded`: homes that are together in a statement are on several servers, which costs more. */
export function memoryReads({ read }: Connections, sharded: boolean) {
  const readMemory = sharded ? (reading: Reading) => readOne(read, reading) : readTogether(read)
  return {
    readMemory: (identity: Identity, key: string) => readMemory({ identity, key }),
    listMemories: (identity: Identity, query: MemoriesQuery) => listMemories(read, identity, query),
  }
}
