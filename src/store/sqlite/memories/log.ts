/** The log: one row per event of any home, appended to one table, with the versions they create. */
import type { DatabaseSync } from 'node:sqlite'
import type { LogEntry } from '../../home-log.ts'
import type { EventType } from '../../port/events.ts'
import { prepare } from '../engine/connection.ts'
import type { Home } from './homes.ts'
import { prepareUnfinished } from './unfinished.ts'

/** Events are added to the index, and pruned, in batches of this size. */
const TOGETHER = 64

/** The rows of a home that are not in the index, newest first, from the row `newest`. */
const tailFrom = (newest: string): string => `
  tail (n, id, before) AS (
    SELECT n, id, before FROM log WHERE n = ${newest}
    UNION ALL
    SELECT l.n, l.id, l.before FROM tail t JOIN log l ON l.n = t.before
  )`

/** From the tail ?1 of a home. */
export const TAIL = tailFrom('?1')

/** Of the home of the agent $1. */
export const TAIL_OF_HOME = tailFrom('(SELECT tail FROM homes WHERE agent_id = $1)')

/** Adds the tail of a home to the index; the home must be saved afterwards. */
export function prepareIndex(db: DatabaseSync) {
  const index = prepare(
    db,
    `WITH RECURSIVE ${TAIL} INSERT INTO log_index (agent_id, id, n) SELECT ?2, id, n FROM tail`,
  )
  return (agentId: string, home: Home): Home => {
    if (home.tail === null) return home
    index.run(home.tail, agentId)
    return { ...home, tail: null }
  }
}

/** Events that are pruned at once if there are far too many, as after an import. */
const SHARE_EVENTS = 1_024

/** Prunes events over the limit; rows that are versions stay. */
export function prepareForgetEvents(db: DatabaseSync) {
  const unfinished = prepareUnfinished(db)
  const forget = prepare(
    db,
    `DELETE FROM log WHERE operation IS NULL
     AND n IN (SELECT n FROM log_index WHERE agent_id = ? AND id >= ? AND id < ?)`,
  )
  const unindex = prepare(
    db,
    `DELETE FROM log_index WHERE agent_id = ? AND id >= ? AND id < ?
     AND NOT EXISTS (SELECT 1 FROM log l WHERE l.n = log_index.n)`,
  )
  const leaveHash = prepare(
    db,
    `UPDATE homes SET base = (
       SELECT l.hash FROM log_index i JOIN log l ON l.n = i.n
       WHERE i.agent_id = ?1 AND i.id = ?2 AND l.event IS NOT NULL
     ) WHERE agent_id = ?1`,
  )
  return (agentId: string, home: Home, most: number): Home => {
    const { firstEvent, lastEvent } = home
    const first = Math.min(lastEvent - most + 1, firstEvent + SHARE_EVENTS)
    if (most === 0 || first <= firstEvent || unfinished.of(agentId)) return home
    leaveHash.run(agentId, first - 1)
    forget.run(agentId, firstEvent, first)
    unindex.run(agentId, firstEvent, first)
    return { ...home, firstEvent: first }
  }
}

/** `most`: events to retain; 0: all. Returns the home with this row in its log. */
function prepareAdvance(db: DatabaseSync, most: number) {
  const index = prepareIndex(db)
  const forgetEvents = prepareForgetEvents(db)
  return (agentId: string, before: Home, n: number, head: Uint8Array): Home => {
    const home = { ...before, tail: n, lastEvent: before.lastEvent + 1, head }
    if (home.lastEvent % TOGETHER !== 0) return home
    const indexed = index(agentId, home)
    return forgetEvents(agentId, indexed, most)
  }
}

/** Returns the row's number and the new state of the home. `previous`: the row of the version before. */
export function prepareAppend(db: DatabaseSync, most: number) {
  const insertWith = (more: string, values: string) =>
    prepare(
      db,
      `INSERT INTO log (agent_id, id, before, event, key, renamed_from, version, author,
         updated_at, operation, previous, memory_id, created_at, bytes, size, hash, content, salt,
         metadata, text ${more})
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? ${values})`,
    )
  const insert = insertWith('', '')
  const insertAsItWas = insertWith(', event_author, happened_at, made_as', ', ?, ?, ?')
  const advance = prepareAdvance(db, most)
  return (agentId: string, before: Home, entry: LogEntry, previous: number | null) => {
    const { id, type, key, from, version, by, at, hash, content, made } = entry
    const { author, updatedAt, madeAs } = made?.asItWas ?? { author: by, updatedAt: at }
    const event = [agentId, id, before.tail, type, key, from, version, author, updatedAt] as const
    const { operation = null, id: memoryId = null, createdAt = null, content: texts } = made ?? {}
    const { bytes = 0, size = 0, salt = null } = made ?? {}
    const { text = null, metadata = null } = texts ?? {}
    const version_ = [operation, previous, memoryId, createdAt, bytes, size] as const
    const proof = [hash, content, salt, metadata, text] as const
    const { lastInsertRowid } = made?.asItWas
      ? insertAsItWas.run(
          ...event,
          ...version_,
          ...proof,
          by,
          updatedAt === at ? null : at,
          madeAs ?? null,
        )
      : insert.run(...event, ...version_, ...proof)
    const n = Number(lastInsertRowid)
    return { n, home: advance(agentId, before, n, hash) }
  }
}

/** A log row that holds a version. */
export interface Kept {
  readonly n: number
  readonly event_id: number
  /** Null of a version that shares an event with others. */
  readonly event: EventType | null
}

/** Removes a version; a retained event stays. */
export function prepareDrop(db: DatabaseSync) {
  const hollow = prepare(
    db,
    `UPDATE log SET operation = NULL, previous = NULL, memory_id = NULL, created_at = NULL,
       bytes = NULL, size = NULL, salt = NULL, metadata = NULL, text = NULL, made_as = NULL
     WHERE n = ?`,
  )
  const unindex = prepare(db, 'DELETE FROM log_index WHERE agent_id = ? AND id = ? AND n = ?')
  const remove = prepare(db, 'DELETE FROM log WHERE n = ?')
  return (
    agentId: string,
    { firstEvent }: Pick<Home, 'firstEvent'>,
    { n, event, event_id: id }: Kept,
  ): void => {
    const needed = event !== null && id >= firstEvent
    // The unindexed rows form a linked list, so none of them may be removed.
    if (!needed && unindex.run(agentId, id, n).changes > 0) remove.run(n)
    else hollow.run(n)
  }
}
