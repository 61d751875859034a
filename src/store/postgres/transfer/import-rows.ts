/** The rows of an import. */
import { isPinned, sizeOf } from '../../change.ts'
import type { Newest, Next } from '../../import-plan.ts'
import type { Operation } from '../../port/keeping/memories.ts'
import type { KeptVersion } from '../../port/transfer.ts'
import { contentOf, type Done, type HeadRow, type LogRow } from '../keeping/effects.ts'

/** The event's members that differ from the version's. */
type Event = Pick<LogRow, 'event' | 'event_author' | 'happened_at'>

const NO_OTHER: Event = { event: null, event_author: null, happened_at: null }

export type Place = Pick<LogRow, 'n' | 'previous'>

export const happenedAt = (updatedAt: number, now: number): number | null =>
  now === updatedAt ? null : now

/** Its event is chained at the end of the import. */
const rowOf = (
  kept: KeptVersion,
  place: Place,
  author: string | null,
  event: Event,
  isCommitted: boolean,
): LogRow => ({
  ...{ ...place, kept: true, key: kept.key, renamed_from: null },
  ...{ operation: kept.operation, author, ...event, version: kept.version, memory_id: kept.id },
  ...{ created_at: kept.createdAt, updated_at: kept.updatedAt },
  ...contentOf(kept.content, isCommitted),
  hash: null,
})

const authorOf = ({ by }: KeptVersion): string | null => (by ? JSON.stringify(by) : null)

/** An earlier version: no event. It belongs to the key that it was made under. */
export const earlierRow = (kept: KeptVersion, place: Place): LogRow => ({
  ...rowOf(kept, place, authorOf(kept), NO_OTHER, false),
  key: kept.madeAs ?? kept.key,
})

/** The newest version, with its own number and author. */
export const newestRow = (kept: KeptVersion, place: Place, { by, now }: Done): LogRow => {
  const happened_at = happenedAt(kept.updatedAt, now)
  const event = { event: 'import', event_author: JSON.stringify(by), happened_at }
  return rowOf(kept, place, authorOf(kept), event, true)
}

/** The next version of an existing key. */
export const nextRow = (
  kept: KeptVersion,
  next: Next,
  operation: Operation,
  place: Place,
  done: Done,
): LogRow => {
  const happened_at = happenedAt(next.updatedAt, done.now)
  const made = { ...kept, ...next, operation }
  return rowOf(made, place, JSON.stringify(done.by), { ...NO_OTHER, happened_at }, true)
}

export const newestOf = ({ content, by: _, ...facts }: KeptVersion): Newest => ({
  ...facts,
  size: content ? sizeOf(content) : 0,
})

export const isPin = ({ content }: KeptVersion): boolean =>
  content !== undefined && isPinned(content.metadata)

/** `facts`: the version that becomes current, at row `n`. */
export const headRowOf = (
  { key, operation, size }: Newest,
  { id, version, createdAt, updatedAt }: Next,
  marks: Pick<HeadRow, 'pinned' | 'protected'>,
  n: number,
): HeadRow => ({
  ...{ key, id, version, created_at: createdAt, updated_at: updatedAt },
  ...{ deleted: operation === 'delete', size, ...marks, n },
})
