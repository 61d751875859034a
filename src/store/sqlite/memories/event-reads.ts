/** Reads of a home's log. */
import type { DatabaseSync } from 'node:sqlite'
import { eventsAnswer, type Look, lookAfter } from '../../answers.ts'
import { hexOf } from '../../chain.ts'
import type { EventsAnswer } from '../../port/events.ts'
import type { Identity } from '../../port/identity.ts'
import { type EventRow, endOf, eventOf } from '../../rows.ts'
import { creates, type EventStatements, eventsMatch } from '../../verbs/event-pages.ts'
import { statement } from '../../verbs/verb.ts'
import { prepare, prepareTuples } from '../engine/connection.ts'
import type { Refuse } from '../identities.ts'
import { type Home, prepareHomes } from './homes.ts'
import { TAIL, TAIL_OF_HOME } from './log.ts'

/** What an import brought has an author and a time of its own. */
export const EVENT = {
  author: 'coalesce(l.event_author, l.author)',
  at: 'coalesce(l.happened_at, l.updated_at)',
}

const COLUMNS = `l.id, l.event AS type, l.key, l.renamed_from, l.version, ${EVENT.author} AS author,
   ${EVENT.at} AS created_at, l.content, l.hash`

/** Ids ?2 < id <= ?3, at most ?4 of them. */
const within = (id: string): string => `${id} > ?2 AND ${id} <= ?3 AND l.event IS NOT NULL`

/** Events of a key from ?5 up to ?6. */
const NAMED = `((l.key >= ?5 AND l.key < ?6) OR (l.renamed_from >= ?5 AND l.renamed_from < ?6))`

const indexedIn = (condition: string): string => `
  SELECT ${COLUMNS} FROM log_index i JOIN log l ON l.n = i.n
  WHERE i.agent_id = ?1 AND ${within('i.id')} ${condition} ORDER BY i.id LIMIT +?4`

const tailIn = (condition: string): string => `
  WITH RECURSIVE ${TAIL}
  SELECT ${COLUMNS} FROM tail t JOIN log l ON l.n = t.n
  WHERE ${within('t.id')} ${condition} ORDER BY l.id LIMIT +?4`

export function prepareEvents(db: DatabaseSync, refuse: Refuse) {
  const homes = prepareHomes(db)
  const statements = (condition: string) => ({
    indexed: prepare<EventRow>(db, indexedIn(condition)),
    tail: prepare<EventRow>(db, tailIn(condition)),
  })
  const [all, named] = [statements(''), statements(`AND ${NAMED}`)]

  function find(
    agentId: string,
    newest: number | null,
    { after, until, limit, prefix }: Look,
  ): EventRow[] {
    const { indexed, tail } = prefix === '' ? all : named
    const names = prefix === '' ? [] : [prefix, endOf(prefix)]
    const rows = indexed.all(agentId, after, until, limit, ...names)
    if (rows.length === limit) return rows
    return [...rows, ...tail.all(newest, after, until, limit - rows.length, ...names)]
  }

  const baseOf = prepareTuples<[base: Uint8Array]>(db, 'SELECT base FROM homes WHERE agent_id = ?')

  /** The hash of the chain up to this event, one of those retained or the one before them. */
  function hashAt(agentId: string, home: Home, id: number): Uint8Array | undefined {
    if (id === home.lastEvent) return home.head
    if (id < home.firstEvent) return baseOf.get(agentId)?.[0]
    const look = { after: id - 1, until: id, limit: 1, prefix: '' }
    return find(agentId, home.tail, look)[0]?.hash ?? undefined
  }

  return (identity: Identity, id: number, limit: number, prefix = ''): EventsAnswer => {
    const refused = refuse(identity)
    if (refused) return refused
    const { agentId } = identity
    const home = homes.read(agentId)
    const { firstEvent: first, lastEvent: last, tail } = home
    const look = lookAfter(id, { first, last }, limit, prefix)
    const rows = look.after < look.until ? find(agentId, tail, look) : []
    const hash = prefix === '' ? hashAt(agentId, home, look.after) : undefined
    const previous = hash && { id: look.after, hash: hexOf(hash) }
    return eventsAnswer(rows.map(eventOf), id, { first, last }, look, previous)
  }
}

const FILED_OR_NOT = `
  WITH RECURSIVE ${TAIL_OF_HOME},
  places (n, id) AS (
    SELECT n, id FROM log_index WHERE agent_id = $1 AND id > $2 AND id <= $3
    UNION ALL
    SELECT n, id FROM tail WHERE id > $2 AND id <= $3
  )`

const pageOf = (order: 'ASC' | 'DESC', columns = COLUMNS): string => `${FILED_OR_NOT}
  SELECT ${columns}
  FROM places JOIN log l ON l.n = places.n
  WHERE l.event IS NOT NULL AND ${eventsMatch({
    ...{ at: EVENT.at, key: 'l.key', from: 'l.renamed_from', type: 'l.event' },
    author: EVENT.author,
  })}
  ORDER BY places.id ${order} LIMIT CAST($10 AS BIGINT)`

export const eventStatements: EventStatements = {
  timeUpTo: statement(`
  SELECT ${EVENT.at} AS at FROM log_index i JOIN log l ON l.n = i.n
    WHERE i.agent_id = $1 AND i.id <= $2 AND l.event IS NOT NULL ORDER BY i.id DESC LIMIT 1`),
  within: {
    oldest: statement(pageOf('ASC')),
    newest: statement(pageOf('DESC')),
  },
  newestMade: statement(pageOf('DESC', `${COLUMNS}, ${creates('l', 'p.n = l.previous')}`)),
}

/** Homes with new events. */
export function prepareNews(db: DatabaseSync) {
  const changed = prepareTuples<[agentId: string]>(
    db,
    `SELECT s.value ->> 0 FROM json_each(?) s LEFT JOIN homes h ON h.agent_id = s.value ->> 0
     WHERE h.last_event IS NOT s.value ->> 1`,
  )
  return (seen: ReadonlyMap<string, number>): string[] =>
    changed.all(JSON.stringify([...seen])).map(([agentId]) => agentId)
}
