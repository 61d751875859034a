/** PATCH /api/agents/me/memory: changes part of a memory, under compare-and-swap. */
import { z } from 'zod'
import { endpoint } from '../../pipeline/endpoint.ts'
import { forAgents, noQuery } from '../guards.ts'
import { body } from '../limits.ts'
import { memoryExample, memoryKey, tag } from '../schemas.ts'
import { CHANGE_ERRORS, PRECONDITION, savedAnswers } from './answers.ts'
import { expectedVersion, metadata, metadataIn, text } from './content.ts'
import { type ChangeSpec, saving } from './operation.ts'

const schema = z
  .strictObject({
    key: memoryKey,
    expectedVersion,
    text: text.optional(),
    metadata: metadata.optional(),
  })
  .refine((sent) => sent.text !== undefined || sent.metadata !== undefined, {
    error: 'must have a text, metadata or both',
  })
  .meta({ id: 'MemoryPatch' })

export const patch: ChangeSpec<typeof schema> = {
  schema,
  change: ({ key, expectedVersion, text }, source) => ({
    verb: 'patch',
    key,
    expectedVersion,
    text,
    metadata: metadataIn(source),
  }),
}

export const patchMemory = endpoint({
  operationId: 'patchMemory',
  method: 'PATCH',
  path: '/api/agents/me/memory',
  docs: {
    tag,
    summary: 'Change the text or the metadata of a memory',
    description: `Omitted properties are not changed. ${PRECONDITION}`,
  },
  guards: forAgents('writes'),
  query: noQuery,
  body: {
    schema,
    maxBytes: body.maxBytes,
    example: { key: memoryExample.key, expectedVersion: 2, metadata: { run: 12 } },
  },
  answers: savedAnswers,
  errors: [
    ...CHANGE_ERRORS,
    'precondition_mismatch',
    'text_too_large',
    'metadata_too_large',
    'memory_quota_reached',
  ],
  handle: saving(patch),
})
