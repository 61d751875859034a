/** GET /api/agents/me/events: what happened in this home. */
import { z } from 'zod'
import { json } from '../http/call.ts'
import { endpoint } from '../pipeline/endpoint.ts'
import { dateTime, queryInteger } from '../pipeline/schemas.ts'
import { EVENT_TYPES, type HomeEvent } from '../store/port/keeping/events.ts'
import { iso } from '../time.ts'
import { forAgents } from './guards.ts'
import type { Home } from './home.ts'
import { refusal } from './refusal.ts'
import { author, authorExample, memoryExample, memoryKey, tag } from './schemas.ts'

const LIMIT = { minimum: 1, maximum: 1_000 }

const DEFAULT_LIMIT = 100

export const eventSchema = z
  .object({
    id: z.int().min(1).meta({ description: 'Rises by one with everything that happens.' }),
    type: z.enum(EVENT_TYPES),
    key: memoryKey.optional().meta({ description: 'Of the memory; the new one of a rename.' }),
    from: memoryKey.optional().meta({ description: 'Of a rename: the old key.' }),
    version: z.int().min(1).optional().meta({
      description:
        'The one that the memory got; none of an erasure that took only what was before.',
    }),
    namedKey: z
      .object({ id: z.string(), name: z.string() })
      .optional()
      .meta({ description: 'Of create_key and revoke_key: which key was made or ended.' }),
    by: author,
    createdAt: dateTime,
  })
  .meta({ id: 'HomeEvent' })

export const eventView = ({ by, createdAt, ...rest }: HomeEvent) => ({
  ...rest,
  by: by ?? null,
  createdAt: iso(createdAt),
})

export const listEvents = endpoint({
  operationId: 'listEvents',
  method: 'GET',
  path: '/api/agents/me/events',
  docs: {
    tag,
    summary: 'List what happened in this home, oldest first',
    description:
      'The log holds no texts and outlives the versions; of very many events the newest are kept.',
  },
  guards: forAgents('reads'),
  query: z.strictObject({
    after: queryInteger({ minimum: 0 })
      .optional()
      .meta({ description: 'Only events with a higher id.' }),
    limit: queryInteger(LIMIT).optional().meta({ default: DEFAULT_LIMIT }),
  }),
  answers: {
    200: {
      description: 'Events in the order in which they happened.',
      schema: z
        .object({
          events: z.array(eventSchema),
          next: z.int().nullable().meta({ description: 'Send it as after; null at the end.' }),
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
  async handle({ call, identity, query }, { store }: Home) {
    const { after = 0, limit = DEFAULT_LIMIT } = query
    const found = await store.eventsAfter(identity, after, limit)
    if (found.outcome !== 'events') throw refusal(found)
    const newest = found.events.at(-1)?.id ?? found.last
    const next = newest < found.last ? newest : null
    return json(call, 200, { events: found.events.map(eventView), next })
  },
})
