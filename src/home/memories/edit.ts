/** POST /api/agents/me/memory/edit: replaces one passage of a memory's text. */
import { z } from 'zod'
import { fields } from '../../fields.ts'
import { memoryExample, memoryKey } from '../schemas.ts'
import { editConflictAnswer } from './answers.ts'
import { expectedVersion, text } from './content.ts'
import { type MemoryVerb, savingEndpoint } from './verb.ts'

const schema = z
  .strictObject({
    key: memoryKey,
    old: text.meta({ description: 'The passage to replace, exactly as it is in the text, once.' }),
    new: z.string('must be a string').meta({
      maxLength: fields.text.maxBytes,
      description: 'What replaces it; empty to remove the passage.',
    }),
    expectedVersion: expectedVersion.optional(),
  })
  .meta({ id: 'MemoryEdit' })

export const edit: MemoryVerb<typeof schema> = {
  schema,
  change: (sent) => ({ verb: 'edit', ...sent, maxBytes: fields.text.maxBytes }),
  errors: [
    'memory_not_found',
    'edit_not_found',
    'edit_ambiguous',
    'text_empty',
    'text_too_large',
    'memory_quota_reached',
  ],
  tool: {
    name: 'edit_memory',
    title: 'Edit a memory',
    description:
      'Replaces one passage of a memory’s text; the rest and the metadata stay. old must be in the text exactly once: copy it from read_memory, with enough around it to be unique.',
    idempotent: false,
  },
}

export const editMemory = savingEndpoint(edit, {
  operationId: 'editMemory',
  method: 'POST',
  path: '/api/agents/me/memory/edit',
  summary: 'Replace one passage of a text',
  description:
    'The passage must be in the current text exactly once; letters, spaces and line ends count. Without expectedVersion the current version is edited, whatever it is.',
  example: { key: memoryExample.key, old: 'Step 3 of 7.', new: 'Step 4 of 7.', expectedVersion: 2 },
  conflict: editConflictAnswer,
})
