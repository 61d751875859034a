/**
 * Entries on their way in. Ids grow in the order of commits over all nodes, so arrivals pass one
 * gate, one commit after another; those that wait on this node go through it together.
 */
import type { NewEntry } from '../port/gateway.ts'
import { type Ask, type Connections, statement } from './engine/connections.ts'
import { joinedWords, storedWords } from './words.ts'

/** Entries removed with one arrival: more than one, so that a lowered capacity is reached. */
const COMPOST_BATCH = 32

/** Entries in one commit. */
const MAX_TOGETHER = 64

const passGate = statement(
  'pass_arrivals',
  "SELECT name FROM gates WHERE name = 'arrivals' FOR UPDATE",
)

export const newest = statement<{ id: string }>(
  'newest_entry',
  'SELECT id FROM entries ORDER BY id DESC LIMIT 1',
)

const insertEntries = statement(
  'insert_entries',
  `INSERT INTO entries
     (id, feed, room, identity, identity_type, details, created_at, text, words)
   SELECT id, feed, room, identity, identity_type, details, created_at, text,
     ${storedWords('words')}
   FROM unnest($1::TEXT[], $2::TEXT[], $3::TEXT[], $4::TEXT[], $5::TEXT[], $6::TEXT[],
     $7::BIGINT[], $8::TEXT[], $9::TEXT[])
     AS t (id, feed, room, identity, identity_type, details, created_at, text, words)`,
)

const insertLabels = statement(
  'insert_labels',
  `INSERT INTO entry_labels (feed, label, id)
   SELECT feed, label, id FROM unnest($1::TEXT[], $2::TEXT[], $3::TEXT[]) AS t (feed, label, id)`,
)

const countRooms = statement(
  'count_rooms',
  `INSERT INTO room_counts (feed, room, entries)
   SELECT feed, room, count(*) FROM unnest($1::TEXT[], $2::TEXT[]) AS t (feed, room)
   GROUP BY feed, room
   ON CONFLICT (feed, room) DO UPDATE SET entries = room_counts.entries + excluded.entries`,
)

const countFeed = statement<{ entries: number }>(
  'count_feed',
  'SELECT coalesce(sum(entries), 0)::BIGINT AS entries FROM room_counts WHERE feed = $1',
)

const removeOldest = statement(
  'remove_oldest',
  `WITH removed AS (
     DELETE FROM entries
     WHERE id IN (SELECT id FROM entries WHERE feed = $1 ORDER BY id LIMIT $2)
     RETURNING id, room
   ),
   unlabelled AS (
     DELETE FROM entry_labels WHERE feed = $1 AND id IN (SELECT id FROM removed)
   )
   UPDATE room_counts r SET entries = r.entries - gone.entries
   FROM (SELECT room, count(*) AS entries FROM removed GROUP BY room) gone
   WHERE r.feed = $1 AND r.room = gone.room`,
)

const oneMore = (id: string): string => {
  const digits = (BigInt(`0x${id.replaceAll('-', '')}`) + 1n).toString(16).padStart(32, '0')
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** Ids of one millisecond are random, and clocks differ: the order of arrival decides. */
function place(entries: readonly NewEntry[], last: string): NewEntry[] {
  let before = last
  return entries.map((entry) => {
    before = entry.id > before ? entry.id : oneMore(before)
    return { ...entry, id: before }
  })
}

async function insert(ask: Ask, entries: readonly NewEntry[]): Promise<void> {
  const column = <T>(of: (entry: NewEntry) => T) => entries.map(of)
  const [ids, feeds, rooms] = [column((e) => e.id), column((e) => e.feed), column((e) => e.room)]
  await ask(
    insertEntries,
    ...[ids, feeds, rooms, column((e) => e.identity), column((e) => e.identityType)],
    ...[column((e) => e.details), column((e) => e.createdAt), column((e) => e.text)],
    column((e) => joinedWords(e.text)),
  )
  await ask(countRooms, feeds, rooms)
  const labelled = entries.flatMap((e) => e.labels.map((label) => ({ ...e, label })))
  if (labelled.length === 0) return
  const [of, labels] = [labelled.map((e) => e.feed), labelled.map((e) => e.label)]
  await ask(
    insertLabels,
    of,
    labels,
    labelled.map((e) => e.id),
  )
}

async function compost(ask: Ask, feed: string, capacity: number, arrived: number): Promise<void> {
  if (capacity === 0) return
  const [count] = await ask(countFeed, feed)
  const over = (count?.entries ?? 0) - capacity
  if (over > 0) await ask(removeOldest, feed, Math.min(over, COMPOST_BATCH * arrived))
}

interface Arrival {
  readonly entry: NewEntry
  readonly capacity: number
}

async function admit(ask: Ask, arrivals: readonly Arrival[]): Promise<string[]> {
  await ask(passGate)
  const [last] = await ask(newest)
  const entries = place(
    arrivals.map(({ entry }) => entry),
    last?.id ?? '',
  )
  await insert(ask, entries)
  for (const [feed, group] of Map.groupBy(arrivals, ({ entry }) => entry.feed)) {
    await compost(ask, feed, group[0]?.capacity ?? 0, group.length)
  }
  return entries.map(({ id }) => id)
}

interface Waiting extends Arrival {
  readonly resolve: (id: string) => void
  readonly reject: (error: unknown) => void
}

export function admitTogether({ transact }: Connections) {
  const waiting: Waiting[] = []
  let busy = false

  async function commit(group: readonly Waiting[]): Promise<void> {
    try {
      const ids = await transact((ask) => admit(ask, group))
      for (const [i, { resolve }] of group.entries()) resolve(ids[i] ?? '')
    } catch (error) {
      for (const { reject } of group) reject(error)
    }
  }

  async function drain(): Promise<void> {
    while (waiting.length > 0) await commit(waiting.splice(0, MAX_TOGETHER))
    busy = false
  }

  return (entry: NewEntry, capacity: number): Promise<string> =>
    new Promise((resolve, reject) => {
      waiting.push({ entry, capacity, resolve, reject })
      if (busy) return
      busy = true
      queueMicrotask(() => void drain())
    })
}
