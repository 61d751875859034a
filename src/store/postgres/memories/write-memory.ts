/**
 * The most frequent write, as one statement: one round trip decides and commits.
 *
 * Every event of a home increments its event number and locks its row until the commit. So only the
 * home's row is locked here: if the number is what it was when the statement read it, nothing of
 * the home has changed since, including credentials and memories. If it differs, or the day has
 * changed, the verb falls back to the write that locks the home first. So does an update in a home
 * with vectors, which may take one along.
 */
import { authorOf, conflictWith, writeAnswerOf } from '../../answers.ts'
import { aroundId, commitTo, hexOf } from '../../chain.ts'
import { isPinned, sizeOf } from '../../change.ts'
import { dayOf } from '../../port/activity.ts'
import type { Identity, Refused } from '../../port/identity.ts'
import type { Conflict, MemoryStore, MemoryWrite, WriteAnswer } from '../../port/memories.ts'
import type { HomeBounds } from '../../port/store.ts'
import { memoryOf } from '../../rows.ts'
import { type Connections, statement } from '../engine/connections.ts'
import { run } from '../engine/run.ts'
import type { Ask } from '../engine/session.ts'
import { refusedBy } from '../identities.ts'
import { hashAfter } from './log.ts'
import { prune } from './prune.ts'
import { deletedIn, readMemory } from './reads.ts'

/**
 * The home, locked and as the statement first read it, and the credential that allows the write.
 */
const ADMITTED = `
  homes was
  JOIN credentials c ON c.agent_id = was.agent_id AND c.token_hash = $2
    AND (c.kind = 'operator' OR c.status = 'active')`

const UNCHANGED = `
  h.agent_id = $1 AND was.agent_id = $1 AND h.last_event = was.last_event AND h.day = $11`

/** The event's time is the write's: a memory that was changed by a clock ahead is left to others. */
const NOT_AHEAD = 'coalesce(m.updated_at, 0) <= $10::BIGINT'

/** `version`: of the memory, the last member of the event. */
const counted = (version: string): string => `
  last_event = h.last_event + 1, day_writes = h.day_writes + 1,
  head = ${hashAfter('h', '$13', `$14 || (${version}) || '}'`)}`

/**
 * `kept` is never null, so the statement fails as a whole if the memory was not saved.
 *
 * Shared parameters $1 to $16: the identity, the key, the text, the metadata, its sizes, whether it
 * is pinned, the author, the time, the day, the byte limit of a home, the canonical event before and
 * behind its number, its salt, and what it commits to.
 */
const LOGGED = `
  INSERT INTO log (agent_id, n, previous, kept, operation, author, key, version, memory_id, created_at,
    updated_at, bytes, size, hash, salt, content, metadata, text)
  SELECT $1, last_event, previous, (SELECT true FROM saved), 'write', $9, $3, version, id, created_at,
    updated_at, $6::BIGINT, $7::BIGINT, head, $15, $16, $5, $4
  FROM home
  RETURNING memory_id AS id, version, created_at, updated_at, n AS last_event,
    (SELECT bytes FROM home) AS bytes`

interface SavedRow {
  id: string
  version: number
  created_at: number
  updated_at: number
  last_event: number
  /** All bytes of the home afterwards. */
  bytes: number
}

const createMemory = statement<SavedRow>(`
  WITH home AS (
    UPDATE homes h SET memories = h.memories + 1, bytes = h.bytes + $7::BIGINT,
      deleted = h.deleted - CASE WHEN m.deleted THEN 1 ELSE 0 END,
      ${counted('coalesce(m.version, h.floor) + 1')}
    FROM ${ADMITTED} LEFT JOIN memories m ON m.agent_id = was.agent_id AND m.key = $3
    WHERE ${UNCHANGED} AND ${NOT_AHEAD} AND coalesce(m.deleted, true)
      AND ($18::BIGINT = 0 OR h.memories < $18::BIGINT)
      AND ($12::BIGINT = 0 OR h.bytes + h.vectors + $7::BIGINT <= $12::BIGINT)
    RETURNING m.n AS previous, $17::TEXT AS id, coalesce(m.version, h.floor) + 1 AS version,
      $10::BIGINT AS created_at, $10::BIGINT AS updated_at,
      h.last_event, h.head, h.bytes + h.history + h.vectors AS bytes
  ),
  saved AS (
    INSERT INTO memories
      (agent_id, key, id, version, created_at, updated_at, deleted, size, pinned, n)
    SELECT $1, $3, id, version, created_at, updated_at, false, $7::BIGINT, $8::BOOLEAN, last_event
    FROM home
    ON CONFLICT (agent_id, key) DO UPDATE
      SET id = excluded.id, version = excluded.version, created_at = excluded.created_at,
        updated_at = excluded.updated_at, deleted = false, size = excluded.size,
        pinned = excluded.pinned, n = excluded.n
    RETURNING n
  ) ${LOGGED}`)

export const updateMemory = statement<SavedRow>(`
  WITH home AS (
    UPDATE homes h SET bytes = h.bytes + $7::BIGINT - m.size, history = h.history + m.size,
      ${counted('m.version + 1')}
    FROM ${ADMITTED} JOIN memories m ON m.agent_id = was.agent_id AND m.key = $3
    WHERE ${UNCHANGED} AND ${NOT_AHEAD} AND h.vectors = 0 AND m.version = $17 AND NOT m.deleted
      AND (c.kind = 'operator' OR NOT m.protected)
      AND ($12::BIGINT = 0 OR $7::BIGINT <= m.size
        OR h.bytes - m.size + $7::BIGINT <= $12::BIGINT)
    RETURNING m.n AS previous, m.id, m.version + 1 AS version, m.created_at,
      $10::BIGINT AS updated_at, h.last_event, h.head, h.bytes + h.history + h.vectors AS bytes
  ),
  saved AS (
    UPDATE memories m SET version = home.version, size = $7::BIGINT, pinned = $8::BOOLEAN,
      updated_at = home.updated_at, n = home.last_event
    FROM home WHERE m.agent_id = $1 AND m.key = $3
    RETURNING m.n
  ) ${LOGGED}`)

/** The parameters for `LOGGED`, and those of each statement. */
function valuesOf(identity: Identity, write: MemoryWrite, bounds: HomeBounds, now: number) {
  const { id, key, text, metadata, expectedVersion } = write
  const by = authorOf(identity)
  const { salt, content } = commitTo(write)
  const event = { type: 'write', key, by, content: hexOf(content), createdAt: now } as const
  const [before, behind] = aroundId(event)
  return [
    ...[identity.agentId, identity.tokenHash, key, text, metadata],
    ...[Buffer.byteLength(text), sizeOf(write), isPinned(metadata)],
    ...[JSON.stringify(by), now, dayOf(now), bounds.bytes],
    ...[before, `${behind.slice(0, -1)},"version":`, salt, content],
    ...(expectedVersion === 0 ? [id, bounds.memories] : [expectedVersion]),
  ]
}

/** The reason for a conflict; undefined if the version is not the reason. */
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

/** The write is already committed, so pruning may also happen later. */
async function makeRoom(
  ask: Ask,
  agentId: string,
  { key }: MemoryWrite,
  { version, last_event: to, bytes }: SavedRow,
  bounds: HomeBounds,
): Promise<void> {
  // A write creates no tombstone.
  const grown = { made: [{ key, version }], bytes, deleted: 0, events: { from: to - 1, to } }
  await run(ask, prune(agentId, grown, bounds)).catch(() => {})
}

/** A write that locks the home first: several statements, none of them with an INSERT in a CTE. */
export const lockedWriteVerb =
  (changeMemories: MemoryStore['changeMemories']) =>
  async (identity: Identity, write: MemoryWrite, now: number): Promise<WriteAnswer> =>
    writeAnswerOf(await changeMemories(identity, [{ verb: 'write', ...write }], now))

/** `changeMemories` locks the home and decides the remaining cases. */
export function writeVerb(
  { read, write: ask }: Connections,
  committed: () => void,
  bounds: HomeBounds,
  changeMemories: MemoryStore['changeMemories'],
) {
  const writeLocked = lockedWriteVerb(changeMemories)
  return async (identity: Identity, write: MemoryWrite, now: number): Promise<WriteAnswer> => {
    const save = write.expectedVersion === 0 ? createMemory : updateMemory
    const [row] = await ask(save, ...valuesOf(identity, write, bounds, now))
    if (!row) {
      const inTheWay = await conflict(read, identity, write)
      if (inTheWay) return inTheWay
      return writeLocked(identity, write, now)
    }
    committed()
    await makeRoom(ask, identity.agentId, write, row, bounds)
    return answerOf(row, write)
  }
}
