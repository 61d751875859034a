/** PATCH /api/agents/me/memory: changes part of a memory, under compare-and-swap. */
import { z } from 'zod'
import { memoryExample, memoryKey } from '../schemas.ts'
import { expectedVersion, metadata, metadataIn, text } from './content.ts'
import { type MemoryVerb, savingEndpoint } from './verb.ts'

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

export const patch: MemoryVerb<typeof schema> = {
  schema,
  change: ({ key, expectedVersion, text }, source) => ({
    verb: 'patch',
    key,
    expectedVersion,
    text,
    metadata: metadataIn(source),
  }),
  errors: ['text_too_large', 'metadata_too_large', 'memory_quota_reached'],
}

export const patchMemory = savingEndpoint(patch, {
  operationId: 'patchMemory',
  method: 'PATCH',
  path: '/api/agents/me/memory',
  summary: 'Change the text or the metadata of a memory',
  description: 'Omitted properties are not changed.',
  example: { key: memoryExample.key, expectedVersion: 2, metadata: { run: 12 } },
})
