/** POST /api/agents/me/memory/restore: restores an earlier version as a new one. */
import { z } from 'zod'
import { fields } from '../../fields.ts'
import { integer } from '../../pipeline/schemas.ts'
import { memoryExample, memoryKey } from '../schemas.ts'
import { expectedVersion } from './content.ts'
import { type MemoryVerb, savingEndpoint } from './verb.ts'

const schema = z
  .strictObject({
    key: memoryKey,
    version: integer({ ...fields.expectedVersion, minimum: 1 }),
    expectedVersion: expectedVersion.meta({
      description: 'The current version; 0 to restore a deleted memory.',
    }),
  })
  .meta({ id: 'MemoryRestore' })

export const restore: MemoryVerb<typeof schema> = {
  schema,
  change: (sent) => ({ verb: 'restore', ...sent }),
  errors: ['version_not_found', 'version_gone', 'memory_quota_reached'],
  tool: {
    name: 'restore_memory',
    title: 'Restore a memory',
    description:
      'Makes an earlier version the newest: memory_history lists them. expectedVersion is the current version, and 0 if the memory was deleted.',
    idempotent: true,
  },
}

export const restoreMemory = savingEndpoint(restore, {
  operationId: 'restoreMemory',
  method: 'POST',
  path: '/api/agents/me/memory/restore',
  summary: 'Restore an earlier version, or a deleted memory',
  description: 'The text and metadata of that version become a new version.',
  example: { key: memoryExample.key, version: 1, expectedVersion: 2 },
})
