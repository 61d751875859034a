/** The gateway's verbs: entries in order of arrival, and their search. */
import type { DatabaseSync } from 'node:sqlite'
import { idAfter, NIL_ID } from '../../uuid.ts'
import { candidatesOf, cut, type FeedSize, type FiledEntry, filed, surplus } from '../feeds.ts'
import type {
  Entry,
  FeedChoice,
  FeedPage,
  FeedQuery,
  NewEntry,
  RoomSummary,
} from '../port/gateway.ts'
import type { FeedBounds } from '../port/store.ts'
import { isStopWord } from '../search/stop-words.ts'
import { wordsSought } from '../words.ts'
import { prepare } from './engine/connection.ts'

/** Removes the oldest entries of a feed that exceeds its limits. */
function prepareCompost(db: DatabaseSync, bounds: FeedBounds) {
  const sizeOf = prepare<FeedSize>(
    db,
    `SELECT coalesce(sum(entries), 0) AS entries, coalesce(sum(bytes), 0) AS bytes
     FROM room_counts WHERE feed = ?`,
  )
  const removeOldest = prepare(
    db,
    `DELETE FROM entries WHERE n IN (
       SELECT n FROM (
         SELECT n, row_number() OVER oldest AS nth, sum(bytes) OVER oldest - bytes AS older_bytes
         FROM (SELECT n, bytes FROM entries WHERE feed = ? ORDER BY n LIMIT +?)
         WINDOW oldest AS (ORDER BY n)
       ) WHERE nth <= ? OR older_bytes < ?
     )`,
  )
  return (feed: string, arrived: number): void => {
    if (bounds.entries === 0 && bounds.bytes === 0) return
    const going = surplus(sizeOf.get(feed) ?? { entries: 0, bytes: 0 }, bounds, arrived)
    if (going) removeOldest.run(feed, going.most, going.entries, going.bytes)
  }
}

const COLUMNS = `id, feed, room, identity, identity_type AS "identityType", details,
  created_at AS "createdAt", text`

/** Labels, words and counters, written once for all arrivals of a commit. */
function prepareFiling(db: DatabaseSync) {
  // An index that would serve the grouping would be scanned whole.
  const arrived = 'entries NOT INDEXED'
  const statements = [
    `INSERT INTO entry_labels (feed, label, n) SELECT feed, value, n FROM ${arrived}, json_each(labels) WHERE n >= ?`,
    `INSERT INTO room_counts (feed, room, entries, bytes)
     SELECT feed, room, count(*), sum(bytes) FROM ${arrived} WHERE n >= ?
       GROUP BY feed, room
       ON CONFLICT (feed, room) DO UPDATE
       SET entries = entries + excluded.entries, bytes = bytes + excluded.bytes`,
  ].map((sql) => prepare(db, sql))
  const index = prepare(
    db,
    `INSERT INTO entry_words (rowid, text)
     SELECT value ->> 0, value ->> 1 FROM json_each(?)`,
  )
  return ({ first, words }: Arrived): void => {
    for (const statement of statements) statement.run(first)
    if (words.length > 0) index.run(JSON.stringify(words))
  }
}

/** Arrivals of the current transaction. */
interface Arrived {
  /** The position of the first. */
  readonly first: number
  readonly byFeed: Map<string, number>
  /** The index rows of those with a text. */
  readonly words: [n: number, words: string][]
}

interface Newest {
  readonly n: number
  readonly id: string
}

/** A trigger updates labels, words and counters when entries are deleted. */
export function prepareGatewayWrites(db: DatabaseSync, bounds: FeedBounds) {
  const findNewest = prepare<Newest>(db, 'SELECT n, id FROM entries ORDER BY n DESC LIMIT 1')
  const insert = prepare(
    db,
    `INSERT INTO entries (n, id, feed, room, identity, identity_type, details, labels, created_at, text, bytes)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const file = prepareFiling(db)
  const compost = prepareCompost(db, bounds)
  let newest: Newest | undefined
  let arrived: Arrived | undefined

  function note(n: number, { feed, text, words }: FiledEntry): void {
    arrived ??= { first: n, byFeed: new Map(), words: [] }
    arrived.byFeed.set(feed, (arrived.byFeed.get(feed) ?? 0) + 1)
    if (text !== '') arrived.words.push([n, words])
  }

  return {
    leaveEntry(left: NewEntry): string {
      const entry = filed(left)
      const { feed, room, text, identity, identityType, details, labels, createdAt } = entry
      newest ??= findNewest.get() ?? { n: 0, id: NIL_ID }
      // Ids within one millisecond are random and the clock may be set back, so the order of
      // arrival decides.
      const id = idAfter(newest.id, entry.id)
      const n = newest.n + 1
      insert.run(
        ...[n, id, feed, room, identity, identityType],
        ...[details, JSON.stringify(labels), createdAt, text, entry.bytes],
      )
      newest = { n, id }
      note(n, entry)
      return id
    },
    /** Before the commit: indexes the arrivals, and removes entries over the limits. */
    fileArrived(): void {
      if (!arrived) return
      const these = arrived
      arrived = undefined
      file(these)
      for (const [feed, entries] of these.byFeed) compost(feed, entries)
    },
    /** After a rollback. */
    forgetArrived(): void {
      newest = undefined
      arrived = undefined
    },
  }
}

interface Place {
  readonly n: number
}

function preparePage(db: DatabaseSync) {
  const below = prepare<Place>(db, 'SELECT n FROM entries WHERE id < ? ORDER BY id DESC LIMIT 1')
  const ofFeed = prepare<Place>(
    db,
    'SELECT n FROM entries WHERE feed = ? AND n <= ? ORDER BY n DESC LIMIT +?',
  )
  const ofLabel = prepare<Place>(
    db,
    'SELECT n FROM entry_labels WHERE feed = ? AND label = ? AND n <= ? ORDER BY n DESC LIMIT +?',
  )
  const isLabelled = prepare<Place>(
    db,
    'SELECT n FROM entry_labels WHERE feed = ? AND label = ? AND n = ?',
  )
  const entry = prepare<Entry>(db, `SELECT ${COLUMNS} FROM entries WHERE n = ?`)

  return (query: FeedQuery): FeedPage => {
    const { feed, labels, before } = query
    const [label, ...others] = labels
    const from = before ? below.get(before)?.n : Number.MAX_SAFE_INTEGER
    if (from === undefined) return { entries: [], next: undefined }
    const most = candidatesOf(query)
    const candidates =
      label === undefined ? ofFeed.all(feed, from, most) : ofLabel.all(feed, label, from, most)
    const { found, stoppedAt } = cut(query, candidates, ({ n }) =>
      others.every((other) => isLabelled.get(feed, other, n) !== undefined),
    )
    // An entry may be removed between two statements, with all older ones.
    const entries = found.map(({ n }) => entry.get(n)).filter((each) => each !== undefined)
    return { entries, next: stoppedAt && entry.get(stoppedAt.n)?.id }
  }
}

function prepareAfter(db: DatabaseSync) {
  const after = prepare<Entry>(
    db,
    `SELECT ${COLUMNS} FROM entries WHERE id > ? ORDER BY id LIMIT +?`,
  )
  return (id: string, limit: number, maxBytes: number): Entry[] => {
    const found: Entry[] = []
    let bytes = 0
    for (const entry of after.iterate(id, limit)) {
      found.push(entry)
      for (const text of [entry.text, entry.details, entry.identity, entry.identityType]) {
        bytes += Buffer.byteLength(text)
      }
      if (bytes >= maxBytes) break
    }
    return found
  }
}

/** Quoted, a word cannot be an operator of the full-text query. */
const anyOf = (words: readonly string[]): string => words.map((word) => `"${word}"`).join(' OR ')

export function prepareGatewayReads(db: DatabaseSync) {
  const kindred = prepare<Entry>(
    db,
    `SELECT ${COLUMNS} FROM entries WHERE n IN (
       SELECT n FROM (
         SELECT rowid AS place FROM entry_words WHERE entry_words MATCH ?
         ORDER BY rowid DESC LIMIT 1000
       ) CROSS JOIN entries ON n = place
       WHERE feed = coalesce(?, feed) AND feed <> coalesce(?, '') ORDER BY n DESC LIMIT +?
     ) ORDER BY n DESC`,
  )
  const rooms = prepare<{ room: string; count: number; feeds: string }>(
    db,
    `SELECT room, sum(entries) AS count, json_group_object(feed, entries) AS feeds
     FROM room_counts GROUP BY room HAVING sum(entries) > 0`,
  )
  const inRoom = prepare<Entry>(
    db,
    `SELECT ${COLUMNS} FROM entries WHERE room = ? ORDER BY n DESC LIMIT +?`,
  )
  const last = prepare<{ id: string }>(db, 'SELECT id FROM entries ORDER BY n DESC LIMIT 1')
  return {
    readFeed: preparePage(db),
    findKindred(phrases: readonly string[], limit: number, feeds: FeedChoice = {}): Entry[] {
      const words = wordsSought(phrases, isStopWord)
      const { only = null, except = null } = feeds
      return words.length > 0 ? kindred.all(anyOf(words), only, except, limit) : []
    },
    summarizeRooms: (latest: number): RoomSummary[] =>
      rooms.all().map((summary) => ({
        ...summary,
        feeds: JSON.parse(summary.feeds) as RoomSummary['feeds'],
        latest: inRoom.all(summary.room, latest),
      })),
    entriesAfter: prepareAfter(db),
    lastArrival: (): string => last.get()?.id ?? NIL_ID,
  }
}
