/** Removes the oldest entries of a feed that exceeds its limits. */
import type { DatabaseSync } from 'node:sqlite'
import { type FeedSize, surplus } from '../feeds.ts'
import type { FeedBounds } from '../port/store.ts'
import { prepare } from './engine/connection.ts'

export function prepareCompost(db: DatabaseSync, bounds: FeedBounds) {
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
