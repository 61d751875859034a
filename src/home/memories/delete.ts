/** DELETE /api/agents/me/memory: deletes a memory; its history is kept, so it can be restored. */
import { z } from 'zod'
import { fields } from '../../fields.ts'
import { json } from '../../http/call.ts'
import { endpoint } from '../../pipeline/endpoint.ts'
import { dateTime, queryInteger } from '../../pipeline/schemas.ts'
import { forAgents } from '../guards.ts'
import type { Home } from '../home.ts'
import { memoryExample, memoryKey, tag } from '../schemas.ts'
import {
  CHANGE_ERRORS,
  conflictAnswer,
  deletedView,
  ifMatch,
  missingAnswer,
  PRECONDITION,
} from './answers.ts'
import { expectedVersion } from './content.ts'
import { carryOut, type MemoryVerb, requireAgreement } from './verb.ts'

const schema = z.strictObject({ key: memoryKey, expectedVersion }).meta({ id: 'MemoryDelete' })

export const remove: MemoryVerb<typeof schema> = {
  schema,
  change: (sent) => ({ verb: 'delete', ...sent }),
  errors: ['memory_not_found'],
  tool: {
    name: 'delete_memory',
    title: 'Delete a memory',
    description:
      'Deletes a memory. Its versions are kept: restore_memory with expectedVersion 0 restores it.',
    idempotent: true,
  },
}

export const deletedSchema = z.object({
  key: memoryKey,
  version: z.int().min(1).meta({ description: 'The version of the deletion.' }),
  deletedAt: dateTime,
})

const noteOf = (version: number): string =>
  `Its versions are retained: POST /api/agents/me/memory/restore with version ${version - 1} and expectedVersion 0 restores it. Only the operator can erase it permanently.`

export const deleteMemory = endpoint({
  operationId: 'deleteMemory',
  method: 'DELETE',
  path: '/api/agents/me/memory',
  docs: {
    tag,
    summary: 'Delete a memory',
    description: `Its versions are retained: POST /api/agents/me/memory/restore with expectedVersion 0 restores it. Only the operator can erase it permanently. ${PRECONDITION}`,
    headers: z.object(ifMatch),
  },
  guards: forAgents('writes'),
  query: z.strictObject({ key: memoryKey, expectedVersion: queryInteger(fields.expectedVersion) }),
  answers: {
    200: {
      description: 'The memory that was deleted.',
      schema: z
        .object({
          deleted: deletedSchema,
          note: z.string().meta({ description: 'How the deletion can be undone.' }),
        })
        .meta({ id: 'DeletedMemory' }),
      example: {
        deleted: { key: memoryExample.key, version: 4, deletedAt: memoryExample.updatedAt },
        note: noteOf(4),
      },
    },
    404: missingAnswer,
    409: conflictAnswer,
  },
  errors: [...CHANGE_ERRORS, 'precondition_mismatch', ...remove.errors],
  async handle({ call, identity, query }, home: Home) {
    requireAgreement(call, query.expectedVersion)
    const result = await carryOut(remove, home, identity, query, '')
    const deleted = deletedView(result)
    return json(call, 200, { deleted, note: noteOf(deleted.version) })
  },
})
