/** The counters of each home. */
import type { DatabaseSync } from 'node:sqlite'
import type { Counters } from '../../plan.ts'
import { DAYS_KEPT, dayOf } from '../../port/activity.ts'
import { prepare, prepareTuples } from '../engine/connection.ts'

export interface Home extends Counters {
  readonly lastEvent: number
  /** The oldest retained event. */
  readonly firstEvent: number
  /** The newest row that is not in the index yet; null if all are. */
  readonly tail: number | null
  /** No version before this event can be pruned. */
  readonly oldest: number
  /** The day of the last write, and the number of writes on it. */
  readonly day: number
  readonly writes: number
  /** Above zero if there are versions with ids below zero, from imports before schema 27. */
  readonly imports: number
  /** The hash of the chain up to the last event. */
  readonly head: Uint8Array
}

const NO_HASH = new Uint8Array()

const NEW_HOME: Home = {
  ...{ memories: 0, bytes: 0, history: 0, deleted: 0, floor: 0, vectors: 0 },
  ...{ lastEvent: 0, firstEvent: 1, tail: null, oldest: 0, day: 0, writes: 0, imports: 0 },
  head: NO_HASH,
}

type HomeTuple = [
  memories: number,
  bytes: number,
  history: number,
  deleted: number,
  floor: number,
  lastEvent: number,
  firstEvent: number,
  tail: number | null,
  oldest: number,
  day: number,
  writes: number,
  imports: number,
  vectors: number,
  head: Uint8Array,
]

export function prepareHomes(db: DatabaseSync) {
  const select = prepareTuples<HomeTuple>(
    db,
    `SELECT memories, bytes, history, deleted, floor, last_event, first_event, tail, oldest,
       day, day_writes, imports, vectors, head FROM homes WHERE agent_id = ?`,
  )
  const update = prepare(
    db,
    `UPDATE homes SET memories = ?, bytes = ?, history = ?, deleted = ?, floor = ?,
       last_event = ?, first_event = ?, tail = ?, oldest = ?, day = ?, day_writes = ?, imports = ?,
       head = ?
     WHERE agent_id = ?`,
  )
  return {
    read(agentId: string): Home {
      const row = select.get(agentId)
      if (!row) return NEW_HOME
      const [memories, bytes, history, deleted, floor] = row
      const counters = { memories, bytes, history, deleted, floor }
      const [, , , , , lastEvent, firstEvent, tail, oldest, day, writes, imports, vectors, head] =
        row
      return {
        ...counters,
        lastEvent,
        firstEvent,
        tail,
        oldest,
        day,
        writes,
        imports,
        vectors,
        head,
      }
    },
    save(agentId: string, home: Home): void {
      const { memories, bytes, history, deleted, floor } = home
      const { lastEvent, firstEvent, tail, oldest, day, writes, imports, head } = home
      update.run(
        ...[memories, bytes, history, deleted, floor],
        ...[lastEvent, firstEvent, tail, oldest, day, writes, imports, head, agentId],
      )
    },
  }
}

/** Counts writes per day: the current day in the home, past days in rows. */
export function prepareCountWrites(db: DatabaseSync) {
  const file = prepare(
    db,
    `INSERT INTO daily_writes (agent_id, day, writes) VALUES (?1, ?2, ?3)
     ON CONFLICT (agent_id, day) DO UPDATE SET writes = writes + ?3`,
  )
  const forget = prepare(
    db,
    `DELETE FROM daily_writes WHERE agent_id = ? AND day <= ? - ${DAYS_KEPT}`,
  )
  return (agentId: string, home: Home, now: number, writes: number): Home => {
    const day = dayOf(now)
    if (home.day === day) return { ...home, writes: home.writes + writes }
    if (home.writes > 0) file.run(agentId, home.day, home.writes)
    forget.run(agentId, day)
    return { ...home, day, writes }
  }
}

/** A key's state before a change. */
interface Before {
  /** The event that changed it last. */
  readonly change: number
  /** The row of its newest version. */
  readonly n: number | null
}

/** A version can be pruned once another has replaced it. */
export function prepareReplacing(db: DatabaseSync) {
  const idAt = prepareTuples<[id: number]>(db, 'SELECT id FROM log WHERE n = ?')
  return (home: Home, before: Before | undefined): Home => {
    if (!before) return home
    const { change, n } = before
    // Versions of those imports are elsewhere than their events.
    const at = home.imports > 0 && n !== null ? (idAt.get(n)?.[0] ?? change) : change
    return at < home.oldest ? { ...home, oldest: at } : home
  }
}
