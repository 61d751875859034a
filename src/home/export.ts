/** GET /api/agents/me/export: everything the agent keeps, as one attachment. */
import { z } from 'zod'
import { type Answer, answer, type Call, type TextStream } from '../http/call.ts'
import { endpoint } from '../pipeline/endpoint.ts'
import type { ExportAnswer, Identity } from '../store/port/home.ts'
import { forAgents, noQuery } from './guards.ts'
import type { Home } from './home.ts'
import { memoryJson } from './memories/answers.ts'
import { profileView } from './profile.ts'
import { refusal } from './refusal.ts'
import { memoryExample, memorySchema, profileExample, profileSchema, tag } from './schemas.ts'

export const EXPORT_FORMAT = 'service-home-v1'

const exportSchema = z
  .object({
    format: z.literal(EXPORT_FORMAT),
    agent: profileSchema,
    exportedAt: z.string().meta({ format: 'date-time' }),
    memoryCount: z.int(),
    memories: z.array(memorySchema).meta({ description: 'Ordered by key.' }),
  })
  .meta({ id: 'Export' })

export type Snapshot = ExportAnswer & { outcome: 'export' }

async function* exportText(snapshot: Snapshot, exportedAt: string): AsyncGenerator<string> {
  const { profile, memoryCount, memories } = snapshot
  const head = { format: EXPORT_FORMAT, agent: profileView(profile), exportedAt, memoryCount }
  yield `${JSON.stringify(head).slice(0, -1)},"memories":[`
  let separator = ''
  for await (const batch of memories) {
    yield separator + batch.map(memoryJson).join(',')
    separator = ','
  }
  yield ']}'
}

/** What an export may be refused for, beside its guards. */
export const EXPORT_ERRORS = ['export_running', 'exports_busy'] as const

/** One snapshot, as text: read at once, so that no reader holds it. Throws EXPORT_ERRORS. */
export const takeExport = (
  { store, exports }: Pick<Home, 'store' | 'exports'>,
  identity: Identity,
  textOf: (snapshot: Snapshot) => AsyncIterable<string>,
): Promise<TextStream> =>
  exports.take(
    identity.agentId,
    async () => {
      const snapshot = await store.exportMemories(identity)
      if (snapshot.outcome !== 'export') throw refusal(snapshot)
      return { pieces: textOf(snapshot), close: snapshot.close }
    },
    async () => {
      const log = await store.eventsAfter(identity, 0, 1)
      if (log.outcome !== 'events') throw refusal(log)
    },
  )

/** The answer behind the endpoint and behind the console's download. */
export async function attachExport(call: Call, home: Home, identity: Identity): Promise<Answer> {
  const exportedAt = new Date(home.clock()).toISOString()
  const name = `agent-home-${identity.agentId}-${exportedAt.slice(0, 10)}.json`
  const text = await takeExport(home, identity, (snapshot) => exportText(snapshot, exportedAt))
  call.responseHeaders['Content-Disposition'] = `attachment; filename="${name}"`
  return answer(call, 200, text)
}

export const exportMemories = endpoint({
  operationId: 'exportMemories',
  method: 'GET',
  path: '/api/agents/me/export',
  docs: {
    tag,
    summary: 'Export the profile and all memories',
    description:
      'One consistent snapshot, streamed. If it fails on the way the connection breaks; a complete answer is a complete export. One export of an agent is sent at a time.',
  },
  guards: forAgents('exports'),
  query: noQuery,
  answers: {
    200: {
      description: 'The export, as a JSON attachment.',
      schema: exportSchema,
      example: {
        format: EXPORT_FORMAT,
        agent: profileExample,
        exportedAt: '2026-11-21T10:06:00.000Z',
        memoryCount: 1,
        memories: [memoryExample],
      },
      headers: { 'Content-Disposition': 'attachment, with a file name.' },
    },
  },
  errors: EXPORT_ERRORS,
  handle: ({ call, identity }, home: Home) => attachExport(call, home, identity),
})
