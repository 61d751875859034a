/** The factory of the three feeds: posting an entry, and listing entries, newest first. */
import { hash } from 'node:crypto'
import { z } from 'zod'
import { json } from '../http/call.ts'
import { type Endpoint, endpoint } from '../pipeline/endpoint.ts'
import { WRITE_ERRORS } from '../pipeline/problem.ts'
import { dateTime } from '../pipeline/schemas.ts'
import { validateBody } from '../pipeline/validate.ts'
import type { Entry, FeedPage, NewEntry } from '../store/port/gateway.ts'
import { newId } from '../uuid.ts'
import type { Gateway } from './gateway.ts'
import { anyQuery, forReaders, forSenders } from './guards.ts'
import type { RoomId } from './rooms.ts'
import {
  entryId,
  identity,
  identityType,
  ignored,
  NOTICE,
  notice,
  OPEN_BODY,
  openBody,
  parted,
  roomId,
  TAGS_TO_FIND,
  tag,
  text,
} from './schemas.ts'
import { showEntry } from './view.ts'

const DEFAULT_LIMIT = 20
const MAX_LIMIT = 100

/** The maximum size of a page's entries. */
const PAGE_CHARS = 262_144

interface Filter {
  /** The property to filter by; of a list, any of its items. */
  readonly property: string
  readonly schema: z.ZodType<string>
}

interface FeedSpec {
  readonly feed: string
  readonly path: string
  /** The names of an entry and of a page in responses. */
  readonly one: string
  readonly many: string
  readonly room: RoomId
  /** The properties of this feed's entries. */
  readonly own: z.ZodRawShape
  readonly filters: Readonly<Record<string, Filter>>
  readonly summary: { readonly leave: string; readonly read: string }
  readonly example: Readonly<Record<string, unknown>>
}

type Filters = FeedSpec['filters']

const inRoom: Filter = { property: 'room', schema: roomId }

/** UTF-16 units of a label; longer values are stored as hashes. */
const LONGEST_LABEL = 120

/**
 * The label for a filter. Property names contain no colon, so a value cannot equal another's hash.
 */
export const labelOf = (name: string, value: string): string =>
  value.length > LONGEST_LABEL
    ? `${name}#${hash('sha256', value, 'base64url')}`
    : `${name}:${value}`

function* fewOf(values: readonly string[]): Iterable<string> {
  const seen = new Set<string>()
  for (const value of values) {
    if (seen.has(value)) continue
    if (seen.size === TAGS_TO_FIND) return
    yield value
    seen.add(value)
  }
}

function labelsOf(filters: Filters, entry: Readonly<Record<string, unknown>>): string[] {
  const labels: string[] = []
  for (const [name, { property }] of Object.entries(filters)) {
    const value = entry[property]
    const values = Array.isArray(value) ? fewOf(value) : [value].filter((v) => v !== undefined)
    for (const each of values) labels.push(labelOf(name, String(each)))
  }
  return labels
}

const limit = z
  .string()
  .regex(/^([1-9]\d?|100)$/, `must be a whole number from 1 to ${MAX_LIMIT}`)
  .transform(Number)
  .optional()
  .meta({ type: 'integer', minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT })

const before = entryId('must be a cursor: the next of an earlier response')
  .optional()
  .meta({ description: 'The `next` of the previous page: only older entries are returned.' })

const querySchema = (filters: Filters) =>
  z.strictObject({
    limit,
    before,
    ...Object.fromEntries(
      Object.entries(filters).map(([name, { schema }]) => [name, schema.optional()]),
    ),
  })

const named = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)

/** Stored entries have all optional properties. */
const kept = (shape: z.ZodRawShape): z.ZodRawShape =>
  Object.fromEntries(
    Object.entries(shape).map(([name, schema]) => [
      name,
      schema instanceof z.ZodDefault ? schema.unwrap() : schema,
    ]),
  )

function schemasOf({ one, many, room, own }: FeedSpec) {
  const left = z.object({ text, ...own, identity, identityType, room: roomId.default(room) })
  const entry = z
    .object({ id: entryId('is not an id'), ...kept(left.shape), createdAt: dateTime })
    .meta({ id: named(one) })
  return {
    left,
    answer: z.object({ [one]: entry, ignored }),
    page: z.object({
      notice,
      [many]: z.array(entry),
      next: z
        .string()
        .nullable()
        .meta({ description: 'The value of `before` for the next page; null at the end.' }),
    }),
  }
}

const sizeOf = ({ text, identity, identityType, details }: Entry): number =>
  text.length + identity.length + identityType.length + details.length

/** Long entries move to the next page. */
function bounded({ entries, next }: FeedPage): FeedPage {
  let size = 0
  const cut = entries.findIndex((entry, i) => {
    size += sizeOf(entry)
    return i > 0 && size > PAGE_CHARS
  })
  return cut < 0
    ? { entries, next }
    : { entries: entries.slice(0, cut), next: entries[cut - 1]?.id }
}

interface Left {
  readonly text: string
  readonly identity: string
  readonly identityType: string
  readonly room: string
  readonly [own: string]: unknown
}

function newEntry({ feed }: FeedSpec, filters: Filters, body: Left, gateway: Gateway): NewEntry {
  const { text, identity, identityType, room, ...own } = body
  const createdAt = gateway.clock()
  const id = newId(createdAt, gateway.random)
  const details = JSON.stringify(own)
  const labels = labelsOf(filters, body)
  return { id, feed, room, text, identity, identityType, details, labels, createdAt }
}

type Schemas = ReturnType<typeof schemasOf>

/** Stores a validated entry and notifies listeners. */
type Leave = (body: Left, gateway: Gateway) => Promise<Entry>

function leaveEndpoint(spec: FeedSpec, schemas: Schemas, leave: Leave): Endpoint<Gateway> {
  return endpoint({
    operationId: `leave${named(spec.one)}`,
    method: 'POST',
    path: spec.path,
    docs: {
      tag,
      summary: spec.summary.leave,
      description: `${OPEN_BODY} When the feed is full, its oldest entries are removed.`,
    },
    guards: forSenders,
    query: anyQuery,
    body: { ...openBody(schemas.left, `${named(spec.one)}Left`), example: spec.example },
    answers: { 201: { description: `The ${spec.one} as stored.`, schema: schemas.answer } },
    errors: WRITE_ERRORS,
    async handle({ call, body }, gateway: Gateway) {
      const { known, unknown } = parted(schemas.left, body)
      const entry = await leave(known as Left, gateway)
      return json(call, 201, { [spec.one]: showEntry(entry), ...unknown })
    },
  })
}

function readEndpoint(spec: FeedSpec, filters: Filters, schemas: Schemas): Endpoint<Gateway> {
  return endpoint({
    operationId: `read${named(spec.many)}`,
    method: 'GET',
    path: spec.path,
    docs: {
      tag,
      summary: spec.summary.read,
      description:
        'Newest first. Follow `next` until it is null: a page may hold fewer entries than requested without being the last.',
    },
    guards: forReaders,
    query: querySchema(filters),
    answers: { 200: { description: 'A page.', schema: schemas.page } },
    errors: ['storage_unavailable'],
    async handle({ call, query }, { store }: Gateway) {
      const { limit = DEFAULT_LIMIT, before, ...wanted } = query
      const labels = Object.entries(wanted).map(([name, value]) => labelOf(name, String(value)))
      const found = bounded(await store.readFeed({ feed: spec.feed, labels, before, limit }))
      const entries = found.entries.map(showEntry)
      return json(call, 200, { notice: NOTICE, [spec.many]: entries, next: found.next ?? null })
    },
  })
}

export function feed(spec: FeedSpec) {
  const filters = { room: inRoom, ...spec.filters }
  const schemas = schemasOf(spec)
  const leave: Leave = async (body, gateway) => {
    const entry = newEntry(spec, filters, body, gateway)
    const id = await gateway.store.leaveEntry(entry)
    gateway.broadcast.lookAgain()
    return { ...entry, id }
  }
  return {
    endpoints: [leaveEndpoint(spec, schemas, leave), readEndpoint(spec, filters, schemas)],
    /** Posts an entry, for a room's form. Throws `invalid_body`. */
    leave: (body: unknown, gateway: Gateway): Promise<Entry> =>
      leave(validateBody(schemas.left, body) as Left, gateway),
  }
}

export type Feed = ReturnType<typeof feed>
