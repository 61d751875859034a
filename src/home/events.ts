/** GET /api/agents/me/events: the event log of this home. */
import { z } from 'zod'
import { json } from '../http/call.ts'
import { endpoint } from '../pipeline/endpoint.ts'
import { spendAfter } from '../pipeline/guards/budget.ts'
import { dateTime, queryInteger } from '../pipeline/schemas.ts'
import {
  EVENT_TYPES,
  type EventsAnswer,
  type HomeEvent,
  ROWS_PER_LOOK,
} from '../store/port/keeping/events.ts'
import { iso } from '../time.ts'
import { forAgents } from './guards.ts'
import type { Home } from './home.ts'
import { refusal } from './refusal.ts'
import { author, authorExample, memoryExample, memoryKey, tag } from './schemas.ts'

const LIMIT = { minimum: 1, maximum: 1_000 }

const DEFAULT_LIMIT = 100

export const eventSchema = z
  .object({
    id: z.int().min(1).meta({ description: 'Increases by one with each event.' }),
    type: z.enum(EVENT_TYPES),
    key: memoryKey
      .optional()
      .meta({ description: 'The key of the memory; for a rename, the new key.' }),
    from: memoryKey.optional().meta({ description: 'For a rename: the old key.' }),
    version: z.int().min(1).optional().meta({
      description:
        'The version that the memory got; absent for an erasure of earlier versions only.',
    }),
    namedKey: z
      .object({ id: z.string(), name: z.string() })
      .optional()
      .meta({ description: 'For create_key and revoke_key: the key that was created or revoked.' }),
    by: author,
    createdAt: dateTime,
  })
  .meta({ id: 'HomeEvent' })

export const eventView = ({ by, createdAt, ...rest }: HomeEvent) => ({
  ...rest,
  by: by ?? null,
  createdAt: iso(createdAt),
})

/** The cost of reading rows: one read per started ROWS_PER_LOOK. */
const readsFor = (looked: number): number => Math.max(1, Math.ceil(looked / ROWS_PER_LOOK))

/** Events that the reader has missed: after the given id and before `first`. */
export interface Missed {
  readonly after: number
  readonly first: number
}

export const missedSchema = z
  .object({
    after: z.int().meta({ description: 'The id that the client sent.' }),
    first: z.int().meta({ description: 'The first id that is available.' }),
  })
  .meta({
    id: 'MissedEvents',
    description:
      'Events after the requested id are no longer in the log, or this home has no event with that id yet, for example after a backup was restored.',
  })

type Found = EventsAnswer & { outcome: 'events' }

/**
 * `after`: an id that the reader was given. If it is ahead of all events, it continues after the
 * newest.
 */
export function missedAfter(after: number, { missed, first, newest }: Found): Missed | undefined {
  if (after > newest) return { after, first: newest + 1 }
  return missed ? { after, first } : undefined
}

function nextAfter(after: number, { events, newest, reached }: Found, limit: number) {
  if (after > newest) return newest
  const shown = events.length === limit ? events.at(-1)?.id : undefined
  const to = shown ?? reached
  return to < newest ? to : null
}

export const listEvents = endpoint({
  operationId: 'listEvents',
  method: 'GET',
  path: '/api/agents/me/events',
  docs: {
    tag,
    summary: 'List the events of this home, oldest first',
    description:
      'The log contains no texts and outlives the versions; when it is full, the oldest events are removed. A key with a prefix sees only the events of its memories. A page may be short or empty although more follow: while `next` is not null, send it as `after`. Every 1,000 events examined cost one read.',
  },
  guards: forAgents('reads'),
  query: z.strictObject({
    after: queryInteger({ minimum: 0 })
      .optional()
      .meta({ description: 'Only events with a higher id are returned.' }),
    limit: queryInteger(LIMIT).optional().meta({ default: DEFAULT_LIMIT }),
  }),
  answers: {
    200: {
      description: 'A page of events in the order in which they happened.',
      schema: z
        .object({
          events: z.array(eventSchema),
          next: z
            .int()
            .nullable()
            .meta({ description: 'The value of after for the next page; null at the end.' }),
          missed: missedSchema.optional(),
        })
        .meta({ id: 'Events' }),
      example: {
        events: [
          {
            id: 7,
            type: 'write',
            key: memoryExample.key,
            version: 3,
            by: authorExample,
            createdAt: memoryExample.updatedAt,
          },
        ],
        next: null,
      },
    },
  },
  async handle(request, home: Home) {
    const { call, identity, query } = request
    const { after = 0, limit = DEFAULT_LIMIT } = query
    const found = await home.store.eventsAfter(identity, after, limit)
    if (found.outcome !== 'events') throw refusal(found)
    await spendAfter(request, home, readsFor(found.looked) - 1)
    const missed = missedAfter(after, found)
    const next = nextAfter(after, found, limit)
    return json(call, 200, { events: found.events.map(eventView), next, ...(missed && { missed }) })
  },
})
