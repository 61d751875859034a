/** GET /api/agents/me/memories: lists memories, page by page. */
import { z } from 'zod'
import { fields } from '../../fields.ts'
import { answer } from '../../http/call.ts'
import { answerTagged, notModified, tagged } from '../../http/etag.ts'
import { endpoint } from '../../pipeline/endpoint.ts'
import { dateTime, queryInteger } from '../../pipeline/schemas.ts'
import type { Identity } from '../../store/port/identity.ts'
import type { DeletedQuery, MemoriesQuery, MemorySummary } from '../../store/port/memories.ts'
import { iso } from '../../time.ts'
import { forAgents } from '../guards.ts'
import type { Home } from '../home.ts'
import { KEY_READ_ERRORS, prefixOf } from '../key-scope.ts'
import { refusal } from '../refusal.ts'
import { author, memoryKey, tag } from '../schemas.ts'
import { ifNoneMatch, summaryExample, summaryJson, summarySchema } from './answers.ts'

const LIMIT = { minimum: 1, maximum: 1_000 }

const DEFAULT_LIMIT = 100

/** UTF-8 bytes of a page. Any single memory is smaller, even with escapes. */
const PAGE_BYTES = 262_144

/** Bytes around the memories. */
const FRAME_BYTES = 200

export const keyPrefix = z
  .string('must be a string')
  .regex(new RegExp(fields.keyPrefix.pattern), 'must be the start of a key')

const nextPage = z
  .string()
  .nullable()
  .meta({ description: 'The value of after for the next page; null at the end.' })

/** Told of parameters that another endpoint knows. */
export const knownElsewhere = {
  elsewhere: {
    since: 'is not supported: GET /api/agents/me/events?since=… lists what changed since a time',
  },
}

/** The format of `next`. */
export const cursors = { key: new RegExp(fields.key.pattern), changed: /^\d{1,16}$/ }

const query = z
  .strictObject({
    prefix: keyPrefix.optional().meta({ description: 'Only keys that start with this prefix.' }),
    deleted: z.enum(['true', 'false'], 'must be true or false').default('false').meta({
      description:
        'true: instead the deleted memories that can be restored, by key. Restore one with POST /api/agents/me/memory/restore, its lastVersion as version, and expectedVersion 0.',
    }),
    order: z.enum(['key', 'changed']).default('key').meta({
      description:
        'changed: most recently changed first. Deletions are in GET /api/agents/me/events.',
    }),
    after: z.string().max(100).optional().meta({ description: 'The next of the previous page.' }),
    limit: queryInteger(LIMIT).optional().meta({ default: DEFAULT_LIMIT }),
    view: z
      .enum(['summary', 'whole'])
      .default('summary')
      .meta({ description: 'whole: include the texts.' }),
  })
  .refine(({ order, after }) => after === undefined || cursors[order].test(after), {
    path: ['after'],
    error: 'must be the next of a page in the same order',
  })
  .refine(({ deleted, order, view }) => deleted === 'false' || order + view === 'keysummary', {
    path: ['deleted'],
    error: 'lists keys in order, without texts: leave out order and view',
  })
  .meta(knownElsewhere)

export const deletedMemory = z
  .object({
    key: memoryKey,
    version: z.int().min(1).meta({ description: 'The version of the deletion.' }),
    deletedAt: dateTime,
    by: author,
    lastVersion: z.int().min(1).meta({ description: 'The newest version with a text.' }),
    bytes: z.int().min(1).meta({ description: 'UTF-8 bytes of that text.' }),
  })
  .meta({ id: 'RestorableMemory' })

const cursorOf = ({ key, change }: MemorySummary, order: 'key' | 'changed'): string =>
  order === 'key' ? key : String(change)

/** As many as fit on a page; `last`: the last of them, if more remain. */
function fitting(memories: readonly MemorySummary[], maxBytes: number) {
  const shown: string[] = []
  let bytes = FRAME_BYTES
  for (const [at, memory] of memories.entries()) {
    const json = summaryJson(memory)
    bytes += Buffer.byteLength(json) + 1
    if (bytes > maxBytes) return { shown, last: memories[at - 1] }
    shown.push(json)
  }
  return { shown, last: undefined }
}

/** A page of at most this many memories and bytes of JSON. */
type Page = Omit<MemoriesQuery, 'pinned'>

/** A page as JSON, and the home's last event. */
export async function pageOf({ store }: Home, identity: Identity, query: Page) {
  const found = await store.listMemories(identity, query)
  if (found.outcome !== 'memories') throw refusal(found)
  const { shown, last } = fitting(found.memories, query.maxBytes)
  const next = last ? cursorOf(last, query.order) : found.next
  const json = `{"memories":[${shown.join(',')}],"next":${JSON.stringify(next ?? null)}}`
  return { json, lastEvent: found.lastEvent }
}

/** A page of deleted memories as JSON. */
export async function deletedPageOf({ store }: Home, identity: Identity, query: DeletedQuery) {
  const found = await store.listDeleted(identity, query)
  if (found.outcome !== 'deleted') throw refusal(found)
  const memories = found.memories.map(({ by = null, deletedAt, ...rest }) => ({
    ...rest,
    deletedAt: iso(deletedAt),
    by,
  }))
  return JSON.stringify({ memories, next: found.next ?? null })
}

/** The home's last event would reveal changes outside the key's scope. */
const etagOf = (identity: Identity, json: string, lastEvent: number): string =>
  prefixOf(identity) === '' ? `"e${lastEvent}"` : tagged(json).etag

export const listMemories = endpoint({
  operationId: 'listMemories',
  method: 'GET',
  path: '/api/agents/me/memories',
  docs: {
    tag,
    summary: 'List memories',
    description:
      'A page ends after limit memories, or earlier if it becomes large; next is null at the end. The ETag changes with every event of this home; for a key with a prefix, it changes with the page.',
    headers: ifNoneMatch,
  },
  guards: forAgents('reads'),
  query,
  answers: {
    200: {
      description: 'A page of memories.',
      schema: z
        .object({ memories: z.array(z.union([summarySchema, deletedMemory])), next: nextPage })
        .meta({ id: 'Memories' }),
      example: { memories: [summaryExample], next: null },
      headers: { ETag: 'Identifies the last event of this home, or the content of the page.' },
    },
    304: {
      description: 'Nothing has happened in this home since, or the page has not changed.',
      headers: { ETag: 'Identifies the last event of this home, or the content of the page.' },
    },
  },
  errors: KEY_READ_ERRORS,
  async handle({ call, identity, query }, home: Home) {
    const { prefix = '', order, after, limit = DEFAULT_LIMIT, view, deleted } = query
    if (deleted === 'true') {
      return answerTagged(
        call,
        tagged(await deletedPageOf(home, identity, { prefix, after, limit })),
      )
    }
    const page = { prefix, order, after, limit, whole: view === 'whole', maxBytes: PAGE_BYTES }
    const { json, lastEvent } = await pageOf(home, identity, page)
    const etag = etagOf(identity, json, lastEvent)
    call.responseHeaders.ETag = etag
    return notModified(call, etag) ? answer(call, 304, null) : answer(call, 200, json)
  },
})
