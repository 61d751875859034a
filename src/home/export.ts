/** GET /api/agents/me/export: everything in the home, as one attachment. */
import { z } from 'zod'
import { type Answer, answer, type Call, type TextStream } from '../http/call.ts'
import { endpoint } from '../pipeline/endpoint.ts'
import { clientOf } from '../pipeline/failures.ts'
import { dateTime } from '../pipeline/schemas.ts'
import type { Identity } from '../store/port/identity.ts'
import { OPERATIONS } from '../store/port/memories.ts'
import type { ExportAnswer, KeptVersion } from '../store/port/transfer.ts'
import { iso } from '../time.ts'
import { eventSchema, eventView, hash, linkSchema } from './events.ts'
import { forAgents } from './guards.ts'
import type { Home } from './home.ts'
import { listedJson, listedSchema } from './memories/answers.ts'
import { profileView } from './profile.ts'
import { refusal } from './refusal.ts'
import {
  author,
  authorExample,
  memoryExample,
  memoryKey,
  profileExample,
  profileSchema,
  tag,
} from './schemas.ts'

const keptSchema = z
  .object({
    key: memoryKey,
    id: z.string().meta({ format: 'uuid' }),
    madeAs: memoryKey.optional().meta({
      description:
        'The key under which the version was created, if a rename has changed it since. A key with a prefix sees the versions created under its prefix.',
    }),
    version: z.int().min(1),
    operation: z.enum(OPERATIONS),
    by: author,
    createdAt: dateTime.meta({ description: 'When the memory was created.' }),
    updatedAt: dateTime.meta({ description: 'When the version was created.' }),
    text: z
      .string()
      .optional()
      .meta({ description: 'Absent for a deletion and for the current version.' }),
    metadata: z.record(z.string(), z.unknown()).optional(),
    salt: hash.optional().meta({
      description:
        'With it, the content of the version’s event can be computed. Absent if no event committed to the version. An import ignores it.',
    }),
  })
  .meta({ id: 'KeptVersion' })

const keptExample = {
  key: memoryExample.key,
  id: memoryExample.id,
  version: 3,
  operation: 'write',
  by: authorExample,
  createdAt: memoryExample.createdAt,
  updatedAt: memoryExample.updatedAt,
} as const

/** Metadata is returned as the stored text. */
function keptJson({ content, by, createdAt, updatedAt, ...kept }: KeptVersion): string {
  const { key, madeAs, id, version, operation, salt } = kept
  const times = {
    createdAt: iso(createdAt),
    updatedAt: iso(updatedAt),
  }
  const facts = JSON.stringify({
    key,
    id,
    madeAs,
    version,
    operation,
    by: by ?? null,
    ...times,
    salt,
  })
  if (!content) return facts
  return `${facts.slice(0, -1)},"text":${JSON.stringify(content.text)},"metadata":${content.metadata}}`
}

export const EXPORT_FORMAT = 'service-home-v1'

export const exportSchema = z
  .object({
    format: z.literal(EXPORT_FORMAT),
    agent: profileSchema,
    exportedAt: z.string().meta({ format: 'date-time' }),
    memoryCount: z.int(),
    memories: z.array(listedSchema).meta({ description: 'Ordered by key.' }),
    history: z.array(keptSchema).optional().meta({
      description:
        'With history=true: every retained version, including those of deleted memories, ordered by key and version.',
    }),
    previous: linkSchema.optional().meta({
      description:
        'With history=true, not for a key with a prefix: the event before the first one.',
    }),
    events: z.array(eventSchema).optional().meta({
      description:
        'With history=true, not for a key with a prefix: the retained events, oldest first. An import ignores them and starts a new chain.',
    }),
  })
  .meta({ id: 'Export' })

export type Snapshot = ExportAnswer & { outcome: 'export' }

/** Each as JSON, separated by commas. */
async function* listed<T>(
  batches: AsyncIterable<readonly T[]>,
  json: (item: T) => string,
): AsyncGenerator<string> {
  let separator = ''
  for await (const batch of batches) {
    yield separator + batch.map(json).join(',')
    separator = ','
  }
}

async function* exportText(snapshot: Snapshot, exportedAt: string): AsyncGenerator<string> {
  const { profile, memoryCount, memories, history, events } = snapshot
  const head = { format: EXPORT_FORMAT, agent: profileView(profile), exportedAt, memoryCount }
  yield `${JSON.stringify(head).slice(0, -1)},"memories":[`
  yield* listed(memories, listedJson)
  if (history) {
    yield '],"history":['
    yield* listed(history, keptJson)
  }
  if (events) {
    yield `],"previous":${JSON.stringify(events.previous)},"events":[`
    yield* listed(events.pages, (event) => JSON.stringify(eventView(event)))
  }
  yield ']}'
}

/** Why an export may be refused, besides its guards. */
export const EXPORT_ERRORS = ['export_running', 'exports_busy', 'export_ended'] as const

/** An export succeeds even if its event cannot be recorded. */
const noteExport = ({ store, clock }: Exporting, identity: Identity): Promise<unknown> =>
  store.recordEvent(identity, 'export', clock()).catch(() => false)

type Exporting = Pick<Home, 'store' | 'exports' | 'clock' | 'trustedProxies'>

/** One snapshot as text, spooled so that no client holds it open. Throws EXPORT_ERRORS. */
export async function takeExport(
  call: Call,
  home: Exporting,
  identity: Identity,
  textOf: (snapshot: Snapshot) => AsyncIterable<string>,
  history = false,
): Promise<TextStream> {
  const { store, exports } = home
  const begin = async () => {
    const snapshot = await store.exportMemories(identity, '', history)
    if (snapshot.outcome !== 'export') throw refusal(snapshot)
    const { erasures, close } = snapshot
    return { pieces: textOf(snapshot), erasures, close }
  }
  const text = await exports.take(clientOf(call, home), identity, begin)
  await noteExport(home, identity)
  return text
}

/** The response for the endpoint and for the console's download. */
export async function attachExport(
  call: Call,
  home: Home,
  identity: Identity,
  history = false,
): Promise<Answer> {
  const exportedAt = iso(home.clock())
  const name = `agent-home-${identity.agentId}-${exportedAt.slice(0, 10)}.json`
  const text = await takeExport(
    call,
    home,
    identity,
    (snapshot) => exportText(snapshot, exportedAt),
    history,
  )
  call.responseHeaders['Content-Disposition'] = `attachment; filename="${name}"`
  return answer(call, 200, text)
}

export const exportExample = {
  format: EXPORT_FORMAT,
  agent: profileExample,
  exportedAt: '2026-11-21T10:06:00.000Z',
  memoryCount: 1,
  memories: [memoryExample],
  history: [keptExample],
} as const

export const exportMemories = endpoint({
  operationId: 'exportMemories',
  method: 'GET',
  path: '/api/agents/me/export',
  docs: {
    tag,
    summary: 'Export the profile and all memories',
    description:
      'One consistent snapshot, streamed. If it fails midway, the connection is closed without completing the response, so a complete response is a complete export. An erasure or a pause ends it. The tokens of an agent can run one export at a time, and its operator another.',
  },
  guards: forAgents('exports'),
  query: z.strictObject({
    history: z
      .enum(['true', 'false'], 'must be true or false')
      .optional()
      .meta({ default: 'false', description: 'Include every retained version.' }),
  }),
  answers: {
    200: {
      description: 'The export, as a JSON attachment.',
      schema: exportSchema,
      example: exportExample,
      headers: { 'Content-Disposition': 'attachment, with a file name.' },
    },
  },
  errors: EXPORT_ERRORS,
  handle: ({ call, identity, query }, home: Home) =>
    attachExport(call, home, identity, query.history === 'true'),
})
