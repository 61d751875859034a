/** GET /api/agents/me/memory/versions: the versions of a memory and their authors. */
import { z } from 'zod'
import { problem } from '../../errors.ts'
import { json } from '../../http/call.ts'
import { endpoint } from '../../pipeline/endpoint.ts'
import { dateTime, queryInteger } from '../../pipeline/schemas.ts'
import type { Identity } from '../../store/port/identity.ts'
import { OPERATIONS, type VersionSummary } from '../../store/port/memories.ts'
import { iso } from '../../time.ts'
import { forAgents } from '../guards.ts'
import type { Home } from '../home.ts'
import { KEY_READ_ERRORS } from '../key-scope.ts'
import { refusal } from '../refusal.ts'
import { author, authorExample, memoryExample, memoryKey, tag } from '../schemas.ts'
import { whereItWent } from './gone.ts'

const LIMIT = { minimum: 1, maximum: 1_000 }

const DEFAULT_LIMIT = 100

export const versionSchema = z.object({
  version: z.int().min(1),
  operation: z.enum(OPERATIONS),
  bytes: z.int().min(0).meta({ description: 'UTF-8 bytes of the text; 0 for a deletion.' }),
  by: author,
  createdAt: dateTime,
})

export const versionView = ({ by, createdAt, ...rest }: VersionSummary) => ({
  ...rest,
  by: by ?? null,
  createdAt: iso(createdAt),
})

interface Page {
  readonly before: number | undefined
  readonly limit: number
}

/** Newest first. Throws `memory_not_found` if the key was never used. */
export async function findVersions(
  home: Home,
  identity: Identity,
  key: string,
  { before, limit }: Page,
) {
  const { store } = home
  const found = await store.listVersions(identity, key, before, limit)
  if (found.outcome === 'missing') throw problem('memory_not_found')
  if (found.outcome !== 'versions') throw refusal(found)
  if (found.versions.length > 0 || found.next !== undefined) {
    return { ...found, renamedTo: undefined }
  }
  const now = await store.readMemory(identity, key)
  const deleted = now.outcome === 'missing' ? now.deleted : undefined
  const gone = deleted && (await whereItWent(home, identity, key, deleted))
  return { ...found, renamedTo: gone?.renamedTo }
}

export const listVersions = endpoint({
  operationId: 'listVersions',
  method: 'GET',
  path: '/api/agents/me/memory/versions',
  docs: {
    tag,
    summary: 'List the versions of a memory, newest first',
    description:
      'Also for a deleted memory. GET /api/agents/me/memory with version reads one of them.',
  },
  guards: forAgents('reads'),
  query: z.strictObject({
    key: memoryKey,
    before: queryInteger({ minimum: 1 })
      .optional()
      .meta({ description: 'The next of the previous page.' }),
    limit: queryInteger(LIMIT).optional().meta({ default: DEFAULT_LIMIT }),
  }),
  answers: {
    200: {
      description: 'A page of the retained versions.',
      schema: z
        .object({
          versions: z.array(versionSchema),
          next: z
            .int()
            .nullable()
            .meta({ description: 'The value of before for the next page; null at the end.' }),
          renamedTo: memoryKey.optional().meta({
            description: 'If there is none because the memory was renamed: its key now.',
          }),
        })
        .meta({ id: 'Versions' }),
      example: {
        versions: [
          {
            version: 3,
            operation: 'write',
            bytes: 29,
            by: authorExample,
            createdAt: memoryExample.updatedAt,
          },
        ],
        next: null,
      },
    },
  },
  errors: [...KEY_READ_ERRORS, 'memory_not_found'],
  async handle({ call, identity, query }, home: Home) {
    const { key, before, limit = DEFAULT_LIMIT } = query
    const found = await findVersions(home, identity, key, { before, limit })
    const { versions, next = null, renamedTo } = found
    return json(call, 200, { versions: versions.map(versionView), next, renamedTo })
  },
})
