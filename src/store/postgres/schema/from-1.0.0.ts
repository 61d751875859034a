/**
 * Migrates from 1.0.0, the only release before today's schema. Every memory gets a history, whose
 * first version is the current one.
 */
import { isPinned } from '../../change.ts'
import { DAYS_KEPT } from '../../port/activity.ts'
import type { Progress } from '../../port/store.ts'
import { schemaOf } from '../../schema.ts'
import { statement, unprepared } from '../engine/connections.ts'
import type { Ask } from '../engine/session.ts'
import { joinedWords, storedWords } from '../engine/words.ts'

/** Changes nothing that takes longer with more rows, except that indexes are built. */
const beginning = (): string => `
  ALTER TABLE schema_version ADD COLUMN oldest INTEGER, ADD COLUMN place TEXT;
  UPDATE schema_version SET oldest = version;
  ALTER TABLE schema_version ALTER COLUMN oldest SET NOT NULL;

  ALTER TABLE memories RENAME TO kept_memories;
  ALTER INDEX memories_pkey RENAME TO kept_memories_pkey;
  ALTER TABLE daily_writes RENAME TO slots;
  ALTER INDEX daily_writes_pkey RENAME TO slots_pkey;
  ALTER TABLE slots RENAME CONSTRAINT daily_writes_agent_id_fkey TO slots_agent_id_fkey;

  ALTER TABLE credentials ADD COLUMN key_id TEXT, ADD COLUMN name TEXT, ADD COLUMN access TEXT,
    ADD COLUMN prefix TEXT, ADD COLUMN expires_at BIGINT, ADD COLUMN created_at BIGINT,
    ADD COLUMN last_used_at BIGINT, ADD COLUMN client_id TEXT, ADD COLUMN redirect_host TEXT,
    ADD COLUMN granted_until BIGINT, ADD COLUMN audience TEXT, ADD COLUMN woke_at BIGINT,
    ADD COLUMN woke_event BIGINT;
  DROP INDEX births_by_time;
  ALTER TABLE births ALTER COLUMN born_from TYPE TEXT COLLATE "C";
  ALTER TABLE accounts ADD COLUMN admin BOOLEAN NOT NULL DEFAULT false;
  ALTER TABLE sessions ADD COLUMN place TEXT NOT NULL DEFAULT '',
    ADD COLUMN confirmed_at BIGINT NOT NULL DEFAULT 0,
    ADD COLUMN turn BIGINT NOT NULL DEFAULT 0;

  ALTER TABLE entries ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0;
  ALTER TABLE room_counts ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0;
  DROP INDEX entries_by_word;
  ${schemaOf('postgres')}`

/** A text has up to 128 KiB. */
const ENTRIES_AT_ONCE = 100

const entriesAfter = statement<{ id: string; text: string }>(
  `SELECT id, text FROM entries WHERE id > $1 ORDER BY id LIMIT ${ENTRIES_AT_ONCE}`,
)

/** Words are now split by the program, as on SQLite: split in another way they would not be found again. */
const countEntries = statement(`
  WITH counted AS (
    UPDATE entries e SET words = ${storedWords('split.words')},
      bytes = 512 + 2 * octet_length(e.text) + 4 * octet_length(e.details) + octet_length(e.identity)
    FROM unnest($1::TEXT[], $2::TEXT[]) AS split (id, words)
    WHERE e.id = split.id RETURNING e.feed, e.room, e.bytes
  )
  UPDATE room_counts r SET bytes = r.bytes + added.bytes
  FROM (SELECT feed, room, sum(bytes) AS bytes FROM counted GROUP BY feed, room) AS added
  WHERE r.feed = added.feed AND r.room = added.room`)

/** The last of them; undefined if there is none. */
export async function takeEntries(ask: Ask, after: string): Promise<string | undefined> {
  const entries = await ask(entriesAfter, after)
  const words = entries.map(({ text }) => joinedWords(text))
  await ask(
    countEntries,
    entries.map(({ id }) => id),
    words,
  )
  return entries.at(-1)?.id
}

const AGENTS_AT_ONCE = 1_000
/** Unless one agent has more. */
const MEMORIES_AT_ONCE = 2_000

const agentsAfter = statement<{ agent_id: string; memory_count: number }>(`
  SELECT agent_id, memory_count FROM agents WHERE agent_id > $1 ORDER BY agent_id
  LIMIT ${AGENTS_AT_ONCE}`)

interface PerhapsPinned {
  agent_id: string
  key: string
  metadata: string
}

const THESE = 'agent_id > $1 AND agent_id <= $2'

const CHAIN = `sha256(convert_to(E'agent-home chain v1\\n' || a.agent_id, 'UTF8'))`

/** PostgreSQL's JSON type does not accept everything that our parser does, which finds the pinned. */
const copyHomes = statement<PerhapsPinned>(`
  WITH texts AS (
    INSERT INTO log (agent_id, n, kept, version, created_at, updated_at, bytes, size, key,
        memory_id, operation, metadata, text)
      SELECT agent_id, row_number() OVER (PARTITION BY agent_id ORDER BY updated_at, key), true,
        version, created_at, updated_at, octet_length(text),
        octet_length(text) + octet_length(metadata), key, id, 'write', metadata, text
      FROM kept_memories WHERE ${THESE}
    RETURNING agent_id, key, memory_id, version, created_at, updated_at, size, n, metadata
  ),
  heads AS (
    INSERT INTO memories (agent_id, key, id, version, created_at, updated_at, size, n, deleted,
        pinned)
      SELECT agent_id, key, memory_id, version, created_at, updated_at, size, n, false, false
      FROM texts
  ),
  counted AS (
    INSERT INTO homes (agent_id, memories, bytes, last_event, first_event, head, base)
      SELECT a.agent_id, count(t.n), coalesce(sum(t.size), 0), count(t.n), count(t.n) + 1,
        ${CHAIN}, ${CHAIN}
      FROM (SELECT agent_id FROM agents WHERE ${THESE}) AS a
      LEFT JOIN texts t ON t.agent_id = a.agent_id GROUP BY a.agent_id
  ),
  days AS (
    INSERT INTO daily_writes (agent_id, day, writes)
      SELECT agent_id, day, sum(writes)
      FROM (SELECT *, max(day) OVER (PARTITION BY agent_id) AS last FROM slots WHERE ${THESE}) AS s
      WHERE day > last - ${DAYS_KEPT} GROUP BY agent_id, day
  )
  SELECT agent_id, key, metadata FROM texts
  WHERE position('"pinned"' in metadata) > 0 OR position('\\u' in metadata) > 0`)

const pin = statement(`
  UPDATE memories m SET pinned = true FROM unnest($1::TEXT[], $2::TEXT[]) AS p (agent_id, key)
  WHERE m.agent_id = p.agent_id AND m.key = p.key`)

/** The last of these agents, and how many memories they have; undefined if there is none. */
async function takeAgents(ask: Ask, after: string) {
  let memories = 0
  let last: string | undefined
  for (const { agent_id, memory_count } of await ask(agentsAfter, after)) {
    if (last !== undefined && memories + memory_count > MEMORIES_AT_ONCE) break
    last = agent_id
    memories += memory_count
  }
  if (last === undefined) return undefined
  const perhaps = await ask(copyHomes, after, last)
  const pinned = perhaps.filter(({ metadata }) => isPinned(metadata))
  await ask(
    pin,
    pinned.map(({ agent_id }) => agent_id),
    pinned.map(({ key }) => key),
  )
  return { last, memories }
}

/** Without statistics, the tables would be planned as if they were small. */
const ending = unprepared(`
  DROP TABLE kept_memories, slots;
  ALTER TABLE agents DROP COLUMN memory_count;
  ANALYZE log, memories, homes`)

const countMemories = unprepared<{ memories: number }>(
  'SELECT coalesce(sum(memory_count), 0)::BIGINT AS memories FROM agents',
)

/** How far it is: rows of the table up to this one, and so many of the memories. */
interface Place {
  readonly table: 'entries' | 'agents'
  readonly after: string
  readonly done: number
  readonly of: number
}

async function begin(ask: Ask, progress: Progress): Promise<Place> {
  await ask(unprepared(beginning()))
  const [counted] = await ask(countMemories)
  const of = counted?.memories ?? 0
  if (of > 0) progress(0, of)
  return { table: 'entries', after: '', done: 0, of }
}

async function goOn(ask: Ask, place: Place, progress: Progress): Promise<Place | undefined> {
  const { table, after, done, of } = place
  if (table === 'entries') {
    const last = await takeEntries(ask, after)
    return last ? { ...place, after: last } : { ...place, table: 'agents', after: '' }
  }
  const taken = await takeAgents(ask, after)
  if (taken) {
    if (taken.memories > 0) progress(Math.min(done + taken.memories, of - 1), of)
    return { ...place, after: taken.last, done: done + taken.memories }
  }
  await ask(ending)
  if (of > 0) progress(of, of)
  return undefined
}

export async function takeSlice(
  ask: Ask,
  place: string,
  progress: Progress,
): Promise<string | undefined> {
  const next = place
    ? await goOn(ask, JSON.parse(place) as Place, progress)
    : await begin(ask, progress)
  return next && JSON.stringify(next)
}
