/**
 * The write that is made most: one statement, so that one round trip decides and commits.
 *
 * The credential is locked against change until the commit (FOR SHARE): a token that was revoked,
 * or whose agent was paused, before a write is committed does not write. The home's row is locked
 * next, and read as it is then: its counts are a quota, and number the event. A memory that another
 * statement changed meanwhile is looked at again by the server before it is changed, which makes
 * `version = …` a compare-and-swap. What a version held never changes, so that the size of the one
 * that is replaced may come from before.
 */
import { authorOf, conflictWith } from '../answers.ts'
import { isPinned, sizeOf } from '../change.ts'
import { StoreUnavailable } from '../port/errors.ts'
import type { Identity, Refused } from '../port/home.ts'
import type { Conflict, MemoryWrite, WriteAnswer } from '../port/memories.ts'
import { dayOf } from '../port/sessions.ts'
import type { HomeBounds } from '../port/store.ts'
import { memoryOf } from '../rows.ts'
import { type Ask, type Connections, statement } from './engine/connections.ts'
import { ADMITTED, type AdmittedRow, MAY, refusedBy } from './identities.ts'
import { deletedIn, readMemory } from './memories.ts'
import { prune } from './prune.ts'

/**
 * What both statements begin with, as $1 to $13: the identity, the key, the text, the metadata, its
 * sizes, whether it is pinned, the author, the time, the day and its slot, and the bytes of a home.
 */
const SAVED = `
  kept AS (
    INSERT INTO versions (agent_id, key, version, seq, operation, author, id, created_at,
      updated_at, bytes, size, metadata, text)
    SELECT $1, $3, s.version, h.last_event, 'write', $9, s.id, s.created_at, s.updated_at,
      $6::BIGINT, $7::BIGINT, $5, $4
    FROM saved s, counted h
  ),
  logged AS (
    INSERT INTO events (agent_id, id, type, key, version, author, created_at)
    SELECT $1, h.last_event, 'write', $3, s.version, $9, $10::BIGINT FROM saved s, counted h
  ),
  counted_day AS (
    INSERT INTO daily_writes (agent_id, day, slot, writes)
    SELECT $1, $11::BIGINT, $12, 1 FROM saved
    ON CONFLICT (agent_id, day, slot) DO UPDATE SET writes = daily_writes.writes + 1
  )
  SELECT a.kind, a.status AS credential_status, r.fits,
    s.id, s.version, s.created_at, s.updated_at, h.last_event, h.bytes + h.history AS bytes
  FROM admitted a LEFT JOIN room r ON true LEFT JOIN saved s ON true LEFT JOIN counted h ON true`

interface SavedRow {
  id: string
  version: number
  created_at: number
  updated_at: number
  last_event: number
  /** All that the home holds then. */
  bytes: number
}

/** Without room: another version is there. */
type WrittenRow = AdmittedRow & { fits: boolean | null } & (SavedRow | { id: null })

const createMemory = statement<WrittenRow>(
  'create_memory',
  `WITH ${ADMITTED},
   present AS (SELECT 1 FROM memories WHERE agent_id = $1 AND key = $3 AND NOT deleted),
   room AS (
     SELECT ($15::BIGINT = 0 OR memories < $15::BIGINT)
       AND ($13::BIGINT = 0 OR bytes + $7::BIGINT <= $13::BIGINT) AS fits
     FROM homes WHERE agent_id = $1 AND ${MAY} AND NOT EXISTS (SELECT 1 FROM present)
     FOR UPDATE
   ),
   saved AS (
     INSERT INTO memories AS m
       (agent_id, key, id, version, created_at, updated_at, deleted, size, pinned)
     SELECT $1, $3, $14, 1, $10::BIGINT, $10::BIGINT, false, $7::BIGINT, $8::BOOLEAN
     FROM room WHERE fits
     ON CONFLICT (agent_id, key) DO UPDATE
       SET id = excluded.id, version = m.version + 1, deleted = false, size = excluded.size,
         pinned = excluded.pinned, created_at = greatest(m.updated_at, excluded.created_at),
         updated_at = greatest(m.updated_at, excluded.updated_at)
       WHERE m.deleted
     RETURNING id, version, created_at, updated_at
   ),
   counted AS (
     UPDATE homes h SET memories = h.memories + 1, bytes = h.bytes + $7::BIGINT,
       last_event = h.last_event + 1
     FROM saved WHERE h.agent_id = $1
     RETURNING h.last_event, h.bytes, h.history
   ), ${SAVED}`,
)

export const updateMemory = statement<WrittenRow>(
  'update_memory',
  `WITH ${ADMITTED},
   replaced AS (
     SELECT size FROM memories
     WHERE agent_id = $1 AND key = $3 AND version = $14 AND NOT deleted
   ),
   room AS (
     SELECT $13::BIGINT = 0 OR $7::BIGINT <= (SELECT size FROM replaced)
       OR bytes - (SELECT size FROM replaced) + $7::BIGINT <= $13::BIGINT AS fits
     FROM homes WHERE agent_id = $1 AND ${MAY} AND EXISTS (SELECT 1 FROM replaced)
     FOR UPDATE
   ),
   saved AS (
     UPDATE memories m SET version = m.version + 1, size = $7::BIGINT, pinned = $8::BOOLEAN,
       updated_at = greatest(m.updated_at, $10::BIGINT)
     FROM room WHERE m.agent_id = $1 AND m.key = $3 AND m.version = $14 AND NOT m.deleted
       AND room.fits
     RETURNING m.id, m.version, m.created_at, m.updated_at
   ),
   counted AS (
     UPDATE homes h SET bytes = h.bytes + $7::BIGINT - r.size, history = h.history + r.size,
       last_event = h.last_event + 1
     FROM saved, replaced r WHERE h.agent_id = $1
     RETURNING h.last_event, h.bytes, h.history
   ), ${SAVED}`,
)

/** The lowest digit of a fresh UUID spreads the writes over 16 slots. */
const slotOf = ({ id }: MemoryWrite): string => id.slice(-1)

/** For `SAVED`, and what each of the statements has besides. */
function valuesOf(identity: Identity, write: MemoryWrite, bounds: HomeBounds, now: number) {
  const { id, key, text, metadata, expectedVersion } = write
  return [
    ...[identity.agentId, identity.tokenHash, key, text, metadata],
    ...[Buffer.byteLength(text), sizeOf(write), isPinned(metadata)],
    ...[JSON.stringify(authorOf(identity)), now, dayOf(now), slotOf(write), bounds.bytes],
    ...(expectedVersion === 0 ? [id, bounds.memories] : [expectedVersion]),
  ]
}

type Written =
  | { readonly outcome: 'saved'; readonly row: SavedRow }
  | { readonly outcome: 'over_quota' }
  | Refused
  /** Another version is there. */
  | undefined

async function attempt(ask: Ask, write: MemoryWrite, values: unknown[]): Promise<Written> {
  const [row] = await ask(write.expectedVersion === 0 ? createMemory : updateMemory, ...values)
  const refused = refusedBy(row)
  if (refused) return refused
  if (row && row.id !== null) return { outcome: 'saved', row }
  return row?.fits === false ? { outcome: 'over_quota' } : undefined
}

/** What stands in the way, looked at again; unless it no longer does. */
async function conflict(
  ask: Ask,
  { agentId, tokenHash }: Identity,
  write: MemoryWrite,
): Promise<Refused | Conflict | undefined> {
  const [row] = await ask(readMemory, agentId, tokenHash, write.key)
  const refused = refusedBy(row)
  if (refused) return refused
  const stored = row && row.id !== null ? memoryOf(row) : undefined
  const gone = deletedIn(row)
  const answer = conflictWith(gone ? undefined : stored, write, gone)
  return answer.currentVersion === write.expectedVersion ? undefined : answer
}

function answerOf(row: SavedRow, { key, text, metadata }: MemoryWrite): WriteAnswer {
  const { id, version, created_at: createdAt, updated_at: updatedAt } = row
  return { outcome: 'saved', memory: { id, key, text, metadata, version, createdAt, updatedAt } }
}

/** The write is committed: what gives way to it may also do so later. */
async function makeRoom(
  ask: Ask,
  agentId: string,
  { key }: MemoryWrite,
  { version, last_event: to, bytes }: SavedRow,
  bounds: HomeBounds,
): Promise<void> {
  const grown = { made: [{ key, version }], bytes, events: { from: to - 1, to } }
  await prune(ask, agentId, grown, bounds).catch(() => {})
}

/** What stood in the way may be gone when it is looked at; each time, it cannot be. */
const TRIES = 5

export function writeVerb(
  { read, write: ask }: Connections,
  committed: () => void,
  bounds: HomeBounds,
) {
  return async (identity: Identity, write: MemoryWrite, now: number): Promise<WriteAnswer> => {
    const values = valuesOf(identity, write, bounds, now)
    for (let tries = 0; tries < TRIES; tries++) {
      const written = await attempt(ask, write, values)
      if (written?.outcome === 'saved') {
        committed()
        await makeRoom(ask, identity.agentId, write, written.row, bounds)
        return answerOf(written.row, write)
      }
      const answer = written ?? (await conflict(read, identity, write))
      if (answer) return answer
    }
    throw new StoreUnavailable('what stands in the way of the write is never there')
  }
}
