/** Reads of a home's events. */
import { eventsAnswer, lookAfter } from '../../answers.ts'
import { hexOf } from '../../chain.ts'
import { type EventStore, ROWS_PER_LOOK } from '../../port/events.ts'
import { type EventRow, eventOf } from '../../rows.ts'
import { creates, type EventStatements, eventsMatch } from '../../verbs/event-pages.ts'
import { statement } from '../engine/connections.ts'
import type { Ask } from '../engine/session.ts'
import { type AdmittedRow, refusedBy } from '../identities.ts'
import { askTogether } from '../sharded.ts'

type LoggedRow = AdmittedRow & {
  last_event: number
  first: number
  /** In the first row: the hash that its event follows. */
  previous: Uint8Array | null
} & (EventRow | { id: null })

/** An event has members of its own only where they differ from its version's. */
export const EVENT = {
  type: 'coalesce(event, operation)',
  author: 'coalesce(event_author, author)',
  at: 'coalesce(happened_at, updated_at)',
}

export const EVENT_COLUMNS = `n AS id, ${EVENT.type} AS type, key, renamed_from, version,
  ${EVENT.author} AS author, ${EVENT.at} AS created_at, content, hash`

/** The event that a page follows, of those that are retained or the one before them. */
const FOLLOWED = 'least(greatest($3::BIGINT, h.first_event - 1), h.last_event)'

const eventsAfter = statement<LoggedRow>(`
  SELECT c.kind, c.status AS credential_status, h.last_event, h.first_event AS first, e.*,
    CASE WHEN $5::TEXT <> '' OR e.id > ${FOLLOWED} + 1 THEN NULL
      WHEN ${FOLLOWED} = h.last_event THEN h.head
      WHEN ${FOLLOWED} < h.first_event THEN h.base
      ELSE (SELECT hash FROM log l WHERE l.agent_id = $1 AND l.n = ${FOLLOWED})
    END AS previous
  FROM credentials c JOIN homes h ON h.agent_id = c.agent_id
  LEFT JOIN LATERAL (
    SELECT ${EVENT_COLUMNS}
    FROM log
    WHERE agent_id = $1 AND n > greatest($3::BIGINT, h.first_event - 1)
      AND n <= CASE WHEN $5::TEXT = '' THEN h.last_event
        ELSE greatest($3::BIGINT, h.first_event - 1) + ${ROWS_PER_LOOK} END
      AND ($5 = '' OR starts_with(key, $5) OR starts_with(renamed_from, $5))
    ORDER BY n LIMIT $4
  ) AS e ON true
  WHERE c.agent_id = $1 AND c.token_hash = $2
  ORDER BY e.id`)

const pageOf = (order: 'ASC' | 'DESC', columns = EVENT_COLUMNS): string => `
  SELECT ${columns}
  FROM log WHERE agent_id = $1 AND n > $2 AND n <= $3 AND ${eventsMatch({
    ...{ at: EVENT.at, key: 'key', from: 'renamed_from COLLATE "C"' },
    ...{ type: EVENT.type, author: `${EVENT.author}::JSONB` },
  })}
  ORDER BY n ${order} LIMIT CAST($10 AS BIGINT)`

export const eventStatements: EventStatements = {
  timeUpTo: statement(`
  SELECT ${EVENT.at} AS at FROM log
    WHERE agent_id = $1 AND n > 0 AND n <= $2 ORDER BY n DESC LIMIT 1`),
  within: {
    oldest: statement(pageOf('ASC')),
    newest: statement(pageOf('DESC')),
  },
  newestMade: statement(
    pageOf('DESC', `${EVENT_COLUMNS}, ${creates('log', 'p.agent_id = $1 AND p.n = log.previous')}`),
  ),
}

const changedIn = (homes: string) =>
  statement<{ agent_id: string }>(`
  SELECT s.agent_id FROM unnest($1::TEXT[], $2::BIGINT[]) AS s (agent_id, last_event)
  LEFT JOIN ${homes} h ON h.agent_id = s.agent_id
  WHERE h.last_event IS DISTINCT FROM s.last_event`)

const changedHere = changedIn('homes')

/** Names the homes, so that only their servers are asked. One server takes twice as long for it. */
const changedThere = changedIn(
  '(SELECT agent_id, last_event FROM homes WHERE agent_id = ANY($1::TEXT[]))',
)

export const newsVerbs = (read: Ask, sharded: boolean) => ({
  async changedHomes(seen: ReadonlyMap<string, number>): Promise<string[]> {
    const found = await askTogether(sharded, [...seen], (homes) =>
      read(
        sharded ? changedThere : changedHere,
        homes.map(([agentId]) => agentId),
        homes.map(([, lastEvent]) => lastEvent),
      ),
    )
    return found.map(({ agent_id }) => agent_id)
  },
})

export const eventReader =
  (read: Ask): EventStore['eventsAfter'] =>
  async ({ agentId, tokenHash }, id, limit, prefix = '') => {
    const rows = await read(eventsAfter, agentId, tokenHash, id, limit, prefix)
    const refused = refusedBy(rows[0])
    if (refused) return refused
    const { last_event: last = 0, first = 1 } = rows[0] ?? {}
    const found = rows.filter((row) => row.id !== null).map(eventOf)
    const look = lookAfter(id, { first, last }, limit, prefix)
    const hash = rows[0]?.previous
    const previous = hash ? { id: look.after, hash: hexOf(hash) } : undefined
    return eventsAnswer(found, id, { first, last }, look, previous)
  }
