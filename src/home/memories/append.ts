/** POST /api/agents/me/memory/append: appends text to a memory. */
import { z } from 'zod'
import { fields } from '../../fields.ts'
import { endpoint } from '../../pipeline/endpoint.ts'
import { forAgents, noQuery } from '../guards.ts'
import { body } from '../limits.ts'
import { memoryExample, memoryKey, tag } from '../schemas.ts'
import { CHANGE_ERRORS, PRECONDITION, savedAnswers } from './answers.ts'
import { expectedVersion, text } from './content.ts'
import { type ChangeSpec, saving } from './operation.ts'

const schema = z
  .strictObject({ key: memoryKey, text, expectedVersion: expectedVersion.optional() })
  .meta({ id: 'MemoryAppend' })

export const append: ChangeSpec<typeof schema> = {
  schema,
  change: (sent, _source, { newId }) => ({
    verb: 'append',
    id: newId(),
    ...sent,
    maxBytes: fields.text.maxBytes,
  }),
}

export const appendToMemory = endpoint({
  operationId: 'appendToMemory',
  method: 'POST',
  path: '/api/agents/me/memory/append',
  docs: {
    tag,
    summary: 'Add text to the end of a memory, or create it',
    description: `Without expectedVersion the text is appended to the current version, whatever it is; a repeated call appends it again. ${PRECONDITION}`,
  },
  guards: forAgents('writes'),
  query: noQuery,
  body: {
    schema,
    maxBytes: body.maxBytes,
    example: { key: memoryExample.key, text: '\nStep 4: verify.', expectedVersion: 2 },
  },
  answers: savedAnswers,
  errors: [...CHANGE_ERRORS, 'precondition_mismatch', 'text_too_large', 'memory_quota_reached'],
  handle: saving(append),
})
