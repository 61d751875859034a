/** The gateway's verbs: entries in order of arrival, and their search. */
import { idAfter, NIL_ID } from '../../uuid.ts'
import { candidatesOf, cut, type FeedSize, type FiledEntry, filed, surplus } from '../feeds.ts'
import type { Entry, FeedPage, FeedQuery, GatewayStore, RoomSummary } from '../port/gateway.ts'
import type { FeedBounds } from '../port/store.ts'
import { isStopWord } from '../search/stop-words.ts'
import { wordsSought } from '../words.ts'
import { together } from './engine/batcher.ts'
import { type Connections, statement } from './engine/connections.ts'
import type { Ask } from './engine/session.ts'
import { storedWords } from './engine/words.ts'

const sizeOfFeed = statement<FeedSize>(`
  SELECT coalesce(sum(entries), 0)::BIGINT AS entries, coalesce(sum(bytes), 0)::BIGINT AS bytes
  FROM room_counts WHERE feed = $1`)

const removeOldest = statement(`
  WITH oldest AS (
    SELECT id, row_number() OVER (ORDER BY id) AS nth,
      sum(bytes) OVER (ORDER BY id) - bytes AS older_bytes
    FROM (SELECT id, bytes FROM entries WHERE feed = $1 ORDER BY id LIMIT $2) AS found
  ),
  removed AS (
    DELETE FROM entries
    WHERE id IN (SELECT id FROM oldest WHERE nth <= $3::BIGINT OR older_bytes < $4::BIGINT)
    RETURNING id, room, bytes
  ),
  unlabelled AS (
    DELETE FROM entry_labels WHERE feed = $1 AND id IN (SELECT id FROM removed)
  )
  UPDATE room_counts r SET entries = r.entries - gone.entries, bytes = r.bytes - gone.bytes
  FROM (
    SELECT room, count(*) AS entries, sum(bytes)::BIGINT AS bytes FROM removed GROUP BY room
  ) gone
  WHERE r.feed = $1 AND r.room = gone.room`)

/** Runs in the transaction of the arrivals. */
async function compost(ask: Ask, feed: string, bounds: FeedBounds, arrived: number): Promise<void> {
  if (bounds.entries === 0 && bounds.bytes === 0) return
  const [stored = { entries: 0, bytes: 0 }] = await ask(sizeOfFeed, feed)
  const going = surplus(stored, bounds, arrived)
  if (going) await ask(removeOldest, feed, going.most, going.entries, going.bytes)
}

/** Greater than any id. */
const END_OF_IDS = 'g'

const COLUMNS = `id, feed, room, identity, identity_type AS "identityType", details,
  created_at AS "createdAt", text`

const feedPage = statement<Entry>(
  `SELECT ${COLUMNS} FROM entries WHERE feed = $1 AND id < $2 ORDER BY id DESC LIMIT $3`,
)

interface Labelled {
  readonly id: string
  /** Whether it has the other labels too. */
  readonly matches: boolean
}

const labelled = statement<Labelled>(`
  SELECT l.id,
    (SELECT count(*) FROM entry_labels o
     WHERE o.feed = $1 AND o.id = l.id AND o.label = ANY($3::TEXT[])) = cardinality($3::TEXT[])
      AS matches
  FROM entry_labels l WHERE l.feed = $1 AND l.label = $2 AND l.id < $4
  ORDER BY l.id DESC LIMIT $5`)

const byIds = statement<Entry>(
  `SELECT ${COLUMNS} FROM entries WHERE id = ANY($1::TEXT[]) ORDER BY id DESC`,
)

const kindred = statement<Entry>(`
  SELECT ${COLUMNS} FROM entries WHERE id IN (SELECT find_kindred($1::TEXT[], $2, $3, $4))
  ORDER BY id DESC`)

const rooms = statement<Omit<RoomSummary, 'latest'>>(`
  SELECT room, sum(entries)::BIGINT AS count, json_object_agg(feed, entries) AS feeds
  FROM room_counts GROUP BY room HAVING sum(entries) > 0`)

const latestInRoom = statement<Entry>(
  `SELECT ${COLUMNS} FROM entries WHERE room = $1 ORDER BY id DESC LIMIT $2`,
)

// Sizes are known without reading texts, so only texts that are returned are read.
const entriesAfter = statement<Entry>(`
  SELECT ${COLUMNS} FROM (
    SELECT found.*, sum(
        octet_length(text) + octet_length(details)
        + octet_length(identity) + octet_length(identity_type)
      ) OVER (
        ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
      ) AS bytes_before
    FROM (SELECT * FROM entries WHERE id > $1 ORDER BY id LIMIT $2) AS found
  ) AS sized WHERE coalesce(bytes_before, 0) < $3 ORDER BY id`)

async function readFeed(ask: Ask, query: FeedQuery): Promise<FeedPage> {
  const { feed, labels, before = END_OF_IDS } = query
  const [label, ...others] = labels
  const most = candidatesOf(query)
  if (label === undefined) {
    const entries = await ask(feedPage, feed, before, most)
    const { found, stoppedAt } = cut(query, entries, () => true)
    return { entries: found, next: stoppedAt?.id }
  }
  const candidates = await ask(labelled, feed, label, others, before, most)
  const { found, stoppedAt } = cut(query, candidates, ({ matches }) => matches)
  const ids = found.map(({ id }) => id)
  return { entries: ids.length > 0 ? await ask(byIds, ids) : [], next: stoppedAt?.id }
}

const passGate = statement("SELECT name FROM gates WHERE name = 'arrivals' FOR UPDATE")

const newest = statement<{ id: string }>('SELECT id FROM entries ORDER BY id DESC LIMIT 1')

const insertEntries = statement(`
  INSERT INTO entries
    (id, feed, room, identity, identity_type, details, created_at, text, words, bytes)
  SELECT id, feed, room, identity, identity_type, details, created_at, text,
    ${storedWords('words')}, bytes
  FROM unnest($1::TEXT[], $2::TEXT[], $3::TEXT[], $4::TEXT[], $5::TEXT[], $6::TEXT[],
    $7::BIGINT[], $8::TEXT[], $9::TEXT[], $10::BIGINT[])
    AS t (id, feed, room, identity, identity_type, details, created_at, text, words, bytes)`)

/** In the order of the statement's parameters. */
const INSERTED = [
  ...(['id', 'feed', 'room', 'identity', 'identityType'] as const),
  ...(['details', 'createdAt', 'text', 'words', 'bytes'] as const),
]

const insertLabels = statement(`
  INSERT INTO entry_labels (feed, label, id)
  SELECT feed, label, id FROM unnest($1::TEXT[], $2::TEXT[], $3::TEXT[]) AS t (feed, label, id)`)

const countRooms = statement(`
  INSERT INTO room_counts (feed, room, entries, bytes)
  SELECT feed, room, count(*), sum(bytes)::BIGINT
  FROM unnest($1::TEXT[], $2::TEXT[], $3::BIGINT[]) AS t (feed, room, bytes)
  GROUP BY feed, room
  ON CONFLICT (feed, room) DO UPDATE SET entries = room_counts.entries + excluded.entries,
    bytes = room_counts.bytes + excluded.bytes`)

/** Ids within one millisecond are random and clocks differ, so the order of arrival decides. */
function place(entries: readonly FiledEntry[], last: string): FiledEntry[] {
  let before = last
  return entries.map((entry) => {
    before = idAfter(before, entry.id)
    return { ...entry, id: before }
  })
}

async function insert(ask: Ask, entries: readonly FiledEntry[]): Promise<void> {
  const column = (name: keyof FiledEntry) => entries.map((entry) => entry[name])
  await ask(insertEntries, ...INSERTED.map(column))
  await ask(countRooms, column('feed'), column('room'), column('bytes'))
  const labels = entries.flatMap((entry) => entry.labels)
  if (labels.length === 0) return
  const ofEach = (name: 'feed' | 'id') =>
    entries.flatMap((entry) => entry.labels.map(() => entry[name]))
  await ask(insertLabels, ofEach('feed'), labels, ofEach('id'))
}

async function lastArrival(ask: Ask): Promise<string> {
  const [found] = await ask(newest)
  return found?.id ?? NIL_ID
}

async function admit(
  ask: Ask,
  arrivals: readonly FiledEntry[],
  bounds: FeedBounds,
): Promise<string[]> {
  await ask(passGate)
  const entries = place(arrivals, await lastArrival(ask))
  await insert(ask, entries)
  for (const [feed, group] of Map.groupBy(entries, (entry) => entry.feed)) {
    await compost(ask, feed, bounds, group.length)
  }
  return entries.map(({ id }) => id)
}

/**
 * Ids increase in commit order across all nodes, so arrivals are serialized by a lock; those
 * waiting on this node share one commit.
 */
const ARRIVALS = { atOnce: 1, inGroup: 64 }

export function gatewayVerbs(
  { read: ask, transact }: Connections,
  committed: () => void,
  bounds: FeedBounds,
): GatewayStore {
  async function leaveAll(arrivals: readonly FiledEntry[]): Promise<string[]> {
    const ids = await transact((within) => admit(within, arrivals, bounds))
    committed()
    return ids
  }

  const leave = together(ARRIVALS, leaveAll)

  return {
    // Entries are indexed one by one: a group would hold up the others.
    leaveEntry: (entry) => leave(filed(entry)),
    readFeed: (query) => readFeed(ask, query),
    async findKindred(phrases, limit, { only = null, except = null } = {}) {
      const words = wordsSought(phrases, isStopWord)
      return words.length > 0 ? ask(kindred, words, limit, only, except) : []
    },
    async summarizeRooms(latest) {
      const summaries = (await ask(rooms)).map(async (summary) => ({
        ...summary,
        latest: await ask(latestInRoom, summary.room, latest),
      }))
      return Promise.all(summaries)
    },
    entriesAfter: (id, limit, maxBytes) => ask(entriesAfter, id, limit, maxBytes),
    lastArrival: () => lastArrival(ask),
  }
}
