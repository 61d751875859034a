/** POST /api/agents/me/memory/restore: an earlier version as a new one. */
import { z } from 'zod'
import { fields } from '../../fields.ts'
import { endpoint } from '../../pipeline/endpoint.ts'
import { integer } from '../../pipeline/schemas.ts'
import { forAgents, noQuery } from '../guards.ts'
import { body } from '../limits.ts'
import { memoryExample, memoryKey, tag } from '../schemas.ts'
import { CHANGE_ERRORS, PRECONDITION, savedAnswers } from './answers.ts'
import { expectedVersion } from './content.ts'
import { type ChangeSpec, saving } from './operation.ts'

const schema = z
  .strictObject({
    key: memoryKey,
    version: integer({ ...fields.expectedVersion, minimum: 1 }),
    expectedVersion: expectedVersion.meta({
      description: 'The current version; 0 to restore a deleted memory.',
    }),
  })
  .meta({ id: 'MemoryRestore' })

export const restore: ChangeSpec<typeof schema> = {
  schema,
  change: (sent) => ({ verb: 'restore', ...sent }),
}

export const restoreMemory = endpoint({
  operationId: 'restoreMemory',
  method: 'POST',
  path: '/api/agents/me/memory/restore',
  docs: {
    tag,
    summary: 'Restore an earlier version, or a deleted memory',
    description: `The text and metadata of that version become a new version. ${PRECONDITION}`,
  },
  guards: forAgents('writes'),
  query: noQuery,
  body: {
    schema,
    maxBytes: body.maxBytes,
    example: { key: memoryExample.key, version: 1, expectedVersion: 2 },
  },
  answers: savedAnswers,
  errors: [
    ...CHANGE_ERRORS,
    'precondition_mismatch',
    'version_not_found',
    'version_gone',
    'memory_quota_reached',
  ],
  handle: saving(restore),
})
