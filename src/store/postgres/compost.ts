/** Removes the oldest entries of a feed that exceeds its limits. */
import { type FeedSize, surplus } from '../feeds.ts'
import type { FeedBounds } from '../port/store.ts'
import { type Ask, statement } from './engine/connections.ts'

const sizeOfFeed = statement<FeedSize>(
  'size_of_feed',
  `SELECT coalesce(sum(entries), 0)::BIGINT AS entries, coalesce(sum(bytes), 0)::BIGINT AS bytes
   FROM room_counts WHERE feed = $1`,
)

const removeOldest = statement(
  'remove_oldest',
  `WITH oldest AS (
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
   WHERE r.feed = $1 AND r.room = gone.room`,
)

/** Runs in the transaction of the arrivals. */
export async function compost(
  ask: Ask,
  feed: string,
  bounds: FeedBounds,
  arrived: number,
): Promise<void> {
  if (bounds.entries === 0 && bounds.bytes === 0) return
  const [stored = { entries: 0, bytes: 0 }] = await ask(sizeOfFeed, feed)
  const going = surplus(stored, bounds, arrived)
  if (going) await ask(removeOldest, feed, going.most, going.entries, going.bytes)
}
