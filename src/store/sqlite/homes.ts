/** What is counted of each home, and its log. */
import type { DatabaseSync } from 'node:sqlite'
import { authorOf } from '../answers.ts'
import type { Ledger } from '../plan.ts'
import type { EventsAnswer, EventType } from '../port/events.ts'
import type { Author, Identity } from '../port/home.ts'
import { dayOf } from '../port/sessions.ts'
import { type EventRow, eventOf } from '../rows.ts'
import { prepare, prepareTuples } from './engine/connection.ts'
import type { Refuse } from './identities.ts'

export interface Home extends Ledger {
  readonly lastEvent: number
}

export const NEW_HOME: Home = { memories: 0, bytes: 0, history: 0, lastEvent: 0 }

export function prepareHomes(db: DatabaseSync) {
  const select = prepareTuples<[number, number, number, number]>(
    db,
    'SELECT memories, bytes, history, last_event FROM homes WHERE agent_id = ?',
  )
  const update = prepare(
    db,
    'UPDATE homes SET memories = ?, bytes = ?, history = ?, last_event = ? WHERE agent_id = ?',
  )
  return {
    read(agentId: string): Home {
      const row = select.get(agentId)
      if (!row) return NEW_HOME
      const [memories, bytes, history, lastEvent] = row
      return { memories, bytes, history, lastEvent }
    },
    save(agentId: string, { memories, bytes, history, lastEvent }: Home): void {
      update.run(memories, bytes, history, lastEvent, agentId)
    },
  }
}

/** Counts writes by the day on which they were made. */
export function prepareCountWrites(db: DatabaseSync) {
  const count = prepare(
    db,
    `INSERT INTO daily_writes (agent_id, day, writes) VALUES (?1, ?2, ?3)
     ON CONFLICT (agent_id, day) DO UPDATE SET writes = writes + ?3`,
  )
  return (agentId: string, now: number, writes: number): void => {
    count.run(agentId, dayOf(now), writes)
  }
}

/** What an event says beside who did it and when. */
export interface Happening {
  readonly type: EventType
  readonly key?: string | undefined
  readonly from?: string | undefined
  readonly version?: number | undefined
}

/** Events that are over the bound before they are given up together. */
const SURPLUS = 64

/** `most`: events that are kept; 0: all. */
export function prepareLog(db: DatabaseSync, most: number) {
  const insert = prepare(
    db,
    `INSERT INTO events (agent_id, id, type, key, renamed_from, version, author, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const giveUp = prepare(db, 'DELETE FROM events WHERE agent_id = ? AND id <= ?')
  return (agentId: string, id: number, what: Happening, author: string, now: number): void => {
    const { type, key = null, from = null, version = null } = what
    insert.run(agentId, id, type, key, from, version, author, now)
    if (most > 0 && id % SURPLUS === 0) giveUp.run(agentId, id - most)
  }
}

/** Logs what changed no memory, in the transaction that changed what it did. */
export function prepareHappenings(db: DatabaseSync, mostEvents: number) {
  const homes = prepareHomes(db)
  const log = prepareLog(db, mostEvents)
  return (agentId: string, type: EventType, by: Author, now: number, key?: string): void => {
    const home = homes.read(agentId)
    const lastEvent = home.lastEvent + 1
    log(agentId, lastEvent, { type, key }, JSON.stringify(by), now)
    homes.save(agentId, { ...home, lastEvent })
  }
}

export type Happen = ReturnType<typeof prepareHappenings>

export const prepareRecord =
  (refuse: Refuse, happen: Happen) =>
  (identity: Identity, type: EventType, now: number): boolean => {
    if (refuse(identity)?.outcome === 'revoked') return false
    happen(identity.agentId, type, authorOf(identity), now)
    return true
  }

export function prepareEvents(db: DatabaseSync, refuse: Refuse) {
  const homes = prepareHomes(db)
  const after = prepare<EventRow>(
    db,
    `SELECT id, type, key, renamed_from, version, author, created_at
     FROM events WHERE agent_id = ? AND id > ? ORDER BY id LIMIT ?`,
  )
  const first = prepareTuples<[number | null]>(db, 'SELECT min(id) FROM events WHERE agent_id = ?')
  return (identity: Identity, id: number, limit: number): EventsAnswer => {
    const refused = refuse(identity)
    if (refused) return refused
    const { agentId } = identity
    const { lastEvent } = homes.read(agentId)
    return {
      outcome: 'events',
      events: after.all(agentId, id, limit).map(eventOf),
      last: lastEvent,
      first: first.get(agentId)?.[0] ?? lastEvent + 1,
    }
  }
}
