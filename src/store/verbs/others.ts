/** What others changed since a token was last there. */
import {
  type EventType,
  type HomeEvent,
  type OthersAnswer,
  type OthersEvent,
  ROWS_PER_LOOK,
} from '../port/events.ts'
import type { Identity } from '../port/identity.ts'
import { OPERATIONS } from '../port/memories.ts'
import { eventOf } from '../rows.ts'
import { refuse } from './controls.ts'
import { type EventStatements, rangeOf, retained } from './event-pages.ts'
import { ask, statement, type Verb } from './verb.ts'

/** Rows that are read together: most callers were there lately. */
const LOOK = 100

interface MarkRow {
  created_at: number | null
  woke_at: number | null
  woke_event: number | null
}

/** When the token of an identity was created, and its last wake. */
const markOf = statement<MarkRow>(`
  SELECT created_at, woke_at, woke_event FROM credentials
  WHERE agent_id = $1 AND kind = $2 AND coalesce(key_id, '') = $3 AND audience IS NULL`)

const CHANGES: ReadonlySet<EventType> = new Set([...OPERATIONS, 'erase'])

const isOwn = ({ kind, key }: Identity, { type, by }: HomeEvent): boolean =>
  CHANGES.has(type) && (by?.key?.id ?? by?.as) === (key?.id ?? kind)

export const othersReads = ({ timeUpTo, newestMade }: EventStatements) => ({
  *eventsByOthers(identity: Identity, prefix: string, upTo?: number): Verb<OthersAnswer> {
    const refused = yield* refuse(identity)
    if (refused) return refused
    const { agentId, kind, key } = identity
    const [log] = yield* ask(retained, agentId)
    const [mark] = yield* ask(markOf, agentId, kind, key?.id ?? '')
    const { first, last } = log ?? { first: 1, last: 0 }
    const { woke_at: wokeAt, woke_event: woke = null, created_at: createdAt = null } = mark ?? {}
    const newest = Math.min(last, upTo ?? last)
    const edge = Math.max(first - 1, newest - ROWS_PER_LOOK)
    const answer = (found: readonly OthersEvent[], isWhole: boolean): OthersAnswer => {
      const events = found.filter(({ type }) => CHANGES.has(type)).toReversed()
      const next = isWhole || edge < first ? undefined : edge
      return { outcome: 'others', events, isWhole, next, last, wokeAt: wokeAt ?? undefined }
    }
    const low = Math.max(edge, woke ?? 0)
    const since = woke === null ? createdAt : null
    const found: OthersEvent[] = []
    for (let until = newest; until > low; until -= LOOK) {
      const after = Math.max(low, until - LOOK)
      const range = [null, ...rangeOf({ prefix }), null, null, null, LOOK]
      const rows = yield* ask(newestMade, agentId, after, until, ...range)
      for (const row of rows) {
        const event = { ...eventOf(row), creates: Boolean(row.creates) }
        if (event.createdAt < (since ?? 0) || isOwn(identity, event)) return answer(found, true)
        found.push(event)
      }
    }
    if (edge <= (woke ?? 0)) return answer(found, true)
    if (since === null) return answer(found, false)
    const [oldest] = yield* ask(timeUpTo, agentId, edge + 1)
    return answer(found, (oldest?.at ?? since) < since)
  },
})
