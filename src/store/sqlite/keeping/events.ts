/** The log of a home as it is read, and what it says of more than memories. */
import type { DatabaseSync } from 'node:sqlite'
import { authorOf } from '../../answers.ts'
import type { Author, Identity } from '../../port/home.ts'
import type { EventsAnswer, EventType } from '../../port/keeping/events.ts'
import { type EventRow, eventOf } from '../../rows.ts'
import { prepare, prepareTuples } from '../engine/connection.ts'
import type { Refuse } from '../identities.ts'
import { prepareHomes } from './homes.ts'
import { prepareAppend, TAIL } from './log.ts'

/** Logs what changed no memory, in the transaction that changed what it did. */
export function prepareHappenings(db: DatabaseSync, mostEvents: number) {
  const homes = prepareHomes(db)
  const append = prepareAppend(db, mostEvents)
  return (agentId: string, event: EventType, by: Author, at: number, key?: string): void => {
    const entry = { event, key, author: JSON.stringify(by), at }
    homes.save(agentId, append(agentId, homes.read(agentId), entry).home)
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

const COLUMNS =
  'l.id, l.event AS type, l.key, l.renamed_from, l.version, l.author, l.at AS created_at'

export function prepareEvents(db: DatabaseSync, refuse: Refuse) {
  const homes = prepareHomes(db)
  const filed = prepare<EventRow>(
    db,
    `SELECT ${COLUMNS} FROM log_index i JOIN log l ON l.n = i.n
     WHERE i.agent_id = ? AND i.id > ? AND l.event IS NOT NULL ORDER BY i.id LIMIT +?`,
  )
  const tail = prepare<EventRow>(
    db,
    `WITH RECURSIVE ${TAIL}
     SELECT ${COLUMNS} FROM tail t JOIN log l ON l.n = t.n
     WHERE t.id > ?2 AND l.event IS NOT NULL ORDER BY l.id LIMIT +?3`,
  )

  function after(agentId: string, newest: number | null, id: number, limit: number): EventRow[] {
    const rows = filed.all(agentId, id, limit)
    return rows.length < limit ? [...rows, ...tail.all(newest, id, limit - rows.length)] : rows
  }

  return (identity: Identity, id: number, limit: number): EventsAnswer => {
    const refused = refuse(identity)
    if (refused) return refused
    const { agentId } = identity
    const { firstEvent: first, lastEvent: last, tail: newest } = homes.read(agentId)
    const rows = id < last ? after(agentId, newest, Math.max(id, first - 1), limit) : []
    return { outcome: 'events', events: rows.map(eventOf), last, first }
  }
}

/** Homes in which something happened that was not seen yet. */
export function prepareNews(db: DatabaseSync) {
  const changed = prepareTuples<[agentId: string]>(
    db,
    `SELECT s.value ->> 0 FROM json_each(?) s LEFT JOIN homes h ON h.agent_id = s.value ->> 0
     WHERE h.last_event IS NOT s.value ->> 1`,
  )
  return (seen: ReadonlyMap<string, number>): string[] =>
    changed.all(JSON.stringify([...seen])).map(([agentId]) => agentId)
}
