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
} from '../store/port/events.ts'
import type { Identity } from '../store/port/identity.ts'
import { iso } from '../time.ts'
import { runName } from './agent-run.ts'
import { forAgents } from './guards.ts'
import type { Home } from './home.ts'
import { KEY_READ_ERRORS } from './key-scope.ts'
import { keyPrefix } from './memories/list.ts'
import { refusal } from './refusal.ts'
import { author, authorExample, memoryExample, memoryKey, tag } from './schemas.ts'

const LIMIT = { minimum: 1, maximum: 1_000 }

const DEFAULT_LIMIT = 100

export const hashExample = '6b86b273ff34fce19d6b…'

const BY = /^(agent|operator|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/

/** Of the chain, or a commitment. Examples are short: a whole one could be taken for a key. */
export const hash = z.string().meta({ id: 'Hash', description: '64 lower-case hex digits.' })

const eventType = z.enum(EVENT_TYPES).meta({
  id: 'EventType',
  description:
    'The changes of an import are import events between begin_import and end_import, those of a rollback restore and delete events between rollback and end_rollback. undo_import: an import that could not be finished was taken back, by the delete and restore events before it.',
})

export const eventSchema = z
  .object({
    id: z.int().min(1).meta({ description: 'Increases by one with each event.' }),
    type: eventType,
    key: memoryKey
      .optional()
      .meta({ description: 'The key of the memory; for a rename, the new key.' }),
    from: memoryKey.optional().meta({ description: 'For a rename: the old key.' }),
    version: z.int().min(1).optional().meta({
      description:
        'The version that the memory got; absent for an erasure of earlier versions only.',
    }),
    namedKey: z.object({ id: z.string(), name: z.string() }).optional().meta({
      description:
        'The key: for create_key and revoke_key; for reuse_token (a refresh token was used after it was replaced; the first of an hour) and suspect_theft (the same long after, or a code was used twice: revoke_key follows).',
    }),
    rollback: z.object({ to: z.int(), parts: z.int() }).optional().meta({
      description:
        'For rollback: the event it went back to, and how many changes follow as its parts, by the same author.',
    }),
    content: hash.optional().meta({
      description: 'For an event that created a text: the commitment to the text and its metadata.',
    }),
    by: author,
    createdAt: dateTime,
    hash: hash.optional().meta({
      description:
        'Of this event and all before it, see docs/proof.md. Absent for a key with a prefix.',
    }),
  })
  .meta({ id: 'HomeEvent' })

export const linkSchema = z
  .object({ id: z.int().min(0), hash })
  .meta({ id: 'Link', description: 'An event and the hash of all events up to it.' })

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

/** Whose events: the agent's own token, the operator, or a named key. */
export const keyAuthor = z
  .string('must be a string')
  .regex(BY, 'must be agent, operator, or the id of a named key')

export const instant = z
  .string('must be a string')
  .refine((sent) => Number.isFinite(Date.parse(sent)), 'must be a time: 2026-11-21T22:00:00Z')
  .transform((sent) => Date.parse(sent))

const query = z
  .strictObject({
    order: z
      .enum(['oldest', 'newest'])
      .default('oldest')
      .meta({ description: 'newest: the latest event first.' }),
    after: queryInteger({ minimum: 0 }).optional().meta({
      description:
        'Return the events after this id, in this order: the value of next on the previous page.',
    }),
    since: instant.optional().meta({
      description: 'Only events from this time on.',
      type: 'string',
      format: 'date-time',
    }),
    key: memoryKey
      .optional()
      .meta({ description: 'Only events of this memory; a rename counts for both keys.' }),
    prefix: keyPrefix
      .optional()
      .meta({ description: 'Only events of memories whose keys start with this prefix.' }),
    type: eventType.optional().meta({ description: 'Only events of this type.' }),
    by: keyAuthor.optional().meta({
      description:
        'Only events by the agent’s own token (agent), by the operator, or by the named key with this id.',
    }),
    run: runName
      .optional()
      .meta({ description: 'Only events of the run that Agent-Run named so.' }),
    limit: queryInteger(LIMIT).optional().meta({ default: DEFAULT_LIMIT }),
  })
  .refine(({ key, prefix }) => key === undefined || prefix === undefined, {
    path: ['prefix'],
    error: 'cannot be combined with key',
  })

type Query = z.output<typeof query>

const isPlain = ({ order, since, key, prefix, type, by, run }: Query): boolean =>
  order === 'oldest' && [since, key, prefix, type, by, run].every((each) => each === undefined)

/** All events after an id, with a notice of those that are gone. */
async function eventsAfter({ store }: Home, identity: Identity, after: number, limit: number) {
  const found = await store.eventsAfter(identity, after, limit)
  if (found.outcome !== 'events') throw refusal(found)
  const missed = missedAfter(after, found)
  return { ...found, missed, next: nextAfter(after, found, limit) }
}

async function eventsFor(home: Home, identity: Identity, asked: Query) {
  const { prefix = '', limit = DEFAULT_LIMIT } = asked
  if (isPlain(asked)) return eventsAfter(home, identity, asked.after ?? 0, limit)
  const found = await home.store.listEvents(identity, { ...asked, prefix, limit })
  if (found.outcome !== 'page') throw refusal(found)
  return { ...found, previous: undefined, missed: undefined, next: found.next ?? null }
}

export const listEvents = endpoint({
  operationId: 'listEvents',
  method: 'GET',
  path: '/api/agents/me/events',
  docs: {
    tag,
    summary: 'List the events of this home',
    description:
      'What happened, when and by whom, including deletions, which lists of memories do not show. Oldest first unless order=newest. The log contains no texts and outlives the versions; when it is full, the oldest events are removed. A key with a prefix sees only the events of its memories. A page may be short or empty although more follow: while `next` is not null, send it as `after`. Every 1,000 events examined cost one read.',
  },
  guards: forAgents('reads'),
  query,
  answers: {
    200: {
      description: 'A page of events, in the order of the query.',
      schema: z
        .object({
          events: z.array(eventSchema),
          next: z
            .int()
            .nullable()
            .meta({ description: 'The value of after for the next page; null at the end.' }),
          previous: linkSchema.optional().meta({
            description:
              'The event before the first one, or before the next one if the page is empty. Absent for a filtered or reversed page and for a key with a prefix.',
          }),
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
            content: '5feceb66ffc86f38d952…',
            by: authorExample,
            createdAt: memoryExample.updatedAt,
            hash: hashExample,
          },
        ],
        next: null,
        previous: { id: 6, hash: '4e07408562bedb8b60ce…' },
      },
    },
  },
  errors: KEY_READ_ERRORS,
  async handle(request, home: Home) {
    const { call, identity, query } = request
    const { events, next, previous, missed, looked } = await eventsFor(home, identity, query)
    await spendAfter(request, home, readsFor(looked) - 1)
    const page = { events: events.map(eventView), next, previous }
    return json(call, 200, { ...page, ...(missed && { missed }) })
  },
})
