/** The gateway's verbs: entries in the order of arrival, and what finds them again. */
import type { Entry, FeedPage, FeedQuery, RoomSummary } from '../port/gateway.ts'
import { wordsSought } from '../words.ts'
import { type Ask, type Connections, statement } from './engine/connections.ts'
import { admitTogether, newest } from './insert-queue.ts'
import { anyOf } from './words.ts'

/** Entries looked at for one page that several labels narrow down. */
const SCAN_LIMIT = 1_000

const NIL_ID = '00000000-0000-0000-0000-000000000000'

/** Greater than every id. */
const END_OF_IDS = 'g'

const COLUMNS = `id, feed, room, identity, identity_type AS "identityType", details,
  created_at AS "createdAt", text`

const feedPage = statement<Entry>(
  'feed_page',
  `SELECT ${COLUMNS} FROM entries WHERE feed = $1 AND id < $2 ORDER BY id DESC LIMIT $3`,
)

const labelled = statement<{ id: string; matches: boolean }>(
  'labelled',
  `SELECT l.id,
     (SELECT count(*) FROM entry_labels o
      WHERE o.feed = $1 AND o.id = l.id AND o.label = ANY($3::TEXT[])) = cardinality($3::TEXT[])
       AS matches
   FROM entry_labels l WHERE l.feed = $1 AND l.label = $2 AND l.id < $4
   ORDER BY l.id DESC LIMIT $5`,
)

const byIds = statement<Entry>(
  'entries_by_ids',
  `SELECT ${COLUMNS} FROM entries WHERE id = ANY($1::TEXT[]) ORDER BY id DESC`,
)

const kindred = statement<Entry>(
  'kindred',
  `SELECT ${COLUMNS} FROM entries WHERE id IN (SELECT find_kindred($1::TSQUERY, $2))
   ORDER BY id DESC`,
)

const rooms = statement<{ room: string; count: number }>(
  'rooms',
  `SELECT room, sum(entries)::BIGINT AS count FROM room_counts
   GROUP BY room HAVING sum(entries) > 0`,
)

const latestInRoom = statement<Entry>(
  'latest_in_room',
  `SELECT ${COLUMNS} FROM entries WHERE room = $1 ORDER BY id DESC LIMIT $2`,
)

// A text's size is known without reading it, so none is read that is not answered.
const entriesAfter = statement<Entry>(
  'entries_after',
  `SELECT ${COLUMNS} FROM (
     SELECT found.*, sum(octet_length(text) + octet_length(details)) OVER (
         ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
       ) AS bytes_before
     FROM (SELECT * FROM entries WHERE id > $1 ORDER BY id LIMIT $2) AS found
   ) AS sized WHERE coalesce(bytes_before, 0) < $3 ORDER BY id`,
)

interface Scan {
  readonly found: readonly string[]
  /** The last id that was looked at, where older ones remain to be looked at. */
  readonly stoppedAt: string | undefined
}

async function scanLabels(ask: Ask, { feed, labels, before, limit }: FeedQuery): Promise<Scan> {
  const [label, ...others] = labels
  const most = others.length > 0 ? SCAN_LIMIT : limit + 1
  const candidates = await ask(labelled, feed, label, others, before ?? END_OF_IDS, most)
  const matching = candidates.flatMap(({ matches }, i) => (matches ? [i] : []))
  const overflow = matching[limit]
  if (overflow !== undefined) {
    const found = matching.slice(0, limit).flatMap((i) => candidates[i]?.id ?? [])
    return { found, stoppedAt: candidates[overflow - 1]?.id }
  }
  const found = matching.flatMap((i) => candidates[i]?.id ?? [])
  return { found, stoppedAt: candidates.length === most ? candidates.at(-1)?.id : undefined }
}

async function readFeed(ask: Ask, query: FeedQuery): Promise<FeedPage> {
  const { feed, labels, before, limit } = query
  if (labels.length > 0) {
    const { found, stoppedAt } = await scanLabels(ask, query)
    const entries = found.length > 0 ? await ask(byIds, found) : []
    return { entries, next: stoppedAt }
  }
  const rows = await ask(feedPage, feed, before ?? END_OF_IDS, limit + 1)
  const entries = rows.slice(0, limit)
  return { entries, next: rows.length > limit ? entries.at(-1)?.id : undefined }
}

export function gatewayVerbs(connections: Connections) {
  const ask = connections.read
  return {
    leaveEntry: admitTogether(connections),
    readFeed: (query: FeedQuery) => readFeed(ask, query),
    async findKindred(phrases: readonly string[], limit: number): Promise<Entry[]> {
      const words = wordsSought(phrases)
      return words.length > 0 ? ask(kindred, anyOf(words), limit) : []
    },
    async summarizeRooms(latest: number): Promise<RoomSummary[]> {
      const summary = async ({ room, count }: { room: string; count: number }) => ({
        room,
        count,
        latest: await ask(latestInRoom, room, latest),
      })
      return Promise.all((await ask(rooms)).map(summary))
    },
    entriesAfter: (id: string, limit: number, maxBytes: number) =>
      ask(entriesAfter, id, limit, maxBytes),
    async lastArrival(): Promise<string> {
      const [found] = await ask(newest)
      return found?.id ?? NIL_ID
    },
  }
}
