/** POST /api/agents/me/memory/append: appends text to a memory. */
import { z } from 'zod'
import { fields } from '../../fields.ts'
import { memoryExample, memoryKey } from '../schemas.ts'
import { expectedVersion, text } from './content.ts'
import { type MemoryVerb, savingEndpoint } from './verb.ts'

const schema = z
  .strictObject({ key: memoryKey, text, expectedVersion: expectedVersion.optional() })
  .meta({ id: 'MemoryAppend' })

export const append: MemoryVerb<typeof schema> = {
  schema,
  change: (sent, _source, { newId }) => ({
    verb: 'append',
    id: newId(),
    ...sent,
    maxBytes: fields.text.maxBytes,
  }),
  errors: ['text_too_large', 'memory_quota_reached'],
  tool: {
    name: 'append_memory',
    title: 'Append to a memory',
    description:
      'Adds text to the end of a memory, or creates it. Without expectedVersion the text is added to the current version; if called again, it is added again.',
    idempotent: false,
  },
}

export const appendToMemory = savingEndpoint(append, {
  operationId: 'appendToMemory',
  method: 'POST',
  path: '/api/agents/me/memory/append',
  summary: 'Add text to the end of a memory, or create it',
  description:
    'Without expectedVersion the text is appended to the current version, whatever it is; a repeated call appends it again.',
  example: { key: memoryExample.key, text: '\nStep 4: verify.', expectedVersion: 2 },
})
