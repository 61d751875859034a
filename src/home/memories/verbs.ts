/**
 * The verbs that change one memory, besides `write`, with their endpoints; and all of them by the
 * property that names them in a batch.
 */
import { z } from 'zod'
import { fields } from '../../fields.ts'
import { json } from '../../http/call.ts'
import { endpoint } from '../../pipeline/endpoint.ts'
import { dateTime, integer, queryInteger } from '../../pipeline/schemas.ts'
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
  tooLargeAnswer,
} from './answers.ts'
import { expectedVersion, metadata, metadataIn, text } from './content.ts'
import { lastOfDeleted } from './gone.ts'
import { write } from './memory.ts'
import { carryOut, type MemoryVerb, requireAgreement, savingEndpoint } from './verb.ts'

const patchSchema = z
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

const patch: MemoryVerb<typeof patchSchema> = {
  schema: patchSchema,
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

const line = z.boolean('must be true or false').optional().meta({
  default: false,
  description: 'Put a line end between what is there and the text, unless there is one.',
})

const appendSchema = z
  .strictObject({ key: memoryKey, text, line, expectedVersion: expectedVersion.optional() })
  .meta({ id: 'MemoryAppend' })

const append: MemoryVerb<typeof appendSchema> = {
  schema: appendSchema,
  change: (sent, _source, { newId }) => ({
    verb: 'append',
    id: newId(),
    ...sent,
    maxBytes: fields.text.maxBytes,
  }),
  errors: [
    'text_too_large',
    'memory_quota_reached',
    'malformed_idempotency_key',
    'idempotency_key_reused',
  ],
  once: true,
  tool: {
    name: 'append_memory',
    title: 'Append to a memory',
    description:
      'Adds text to the end of a memory, on a line of its own, or creates the memory. Called again, it adds it again, unless you send expectedVersion.',
    idempotent: false,
    schema: appendSchema.extend({
      line: z.boolean().default(true).meta({ description: 'false: no line end before it.' }),
    }),
  },
}

export const appendToMemory = savingEndpoint(append, {
  operationId: 'appendToMemory',
  method: 'POST',
  path: '/api/agents/me/memory/append',
  summary: 'Add text to the end of a memory, or create it',
  description:
    'Without expectedVersion the text is appended to the current version, whatever it is; a repeated call appends it again, unless both have the same Idempotency-Key. With line: true it begins a line of its own. The 413 of a memory that is full says how many bytes it has, and names a key to go on under.',
  example: { key: memoryExample.key, text: 'Step 4: verify.', line: true, expectedVersion: 2 },
  conflict: {
    ...conflictAnswer,
    description:
      'The memory is at a different version, or the Idempotency-Key was used for another append.',
    schema: conflictAnswer.schema
      .partial({ currentVersion: true, sameContent: true })
      .meta({ id: 'AppendConflict' }),
  },
  tooLarge: tooLargeAnswer,
})

const editSchema = z
  .strictObject({
    key: memoryKey,
    old: text.meta({ description: 'The passage to replace, exactly as it is in the text, once.' }),
    new: z.string('must be a string').meta({
      maxLength: fields.text.maxBytes,
      description: 'The replacement; empty to remove the passage.',
    }),
    expectedVersion: expectedVersion.optional(),
  })
  .meta({ id: 'MemoryEdit' })

const edit: MemoryVerb<typeof editSchema> = {
  schema: editSchema,
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
      'Replaces one passage of a memory’s text. Copy old from read_memory, with enough around it to occur only once.',
    idempotent: false,
  },
}

const editConflictAnswer = {
  ...conflictAnswer,
  description: 'The memory is at a different version, or the passage is not in its text once.',
  schema: conflictAnswer.schema
    .partial({ sameContent: true })
    .extend({
      occurrences: z
        .int()
        .min(0)
        .optional()
        .meta({ description: 'Of edit_not_found and edit_ambiguous: how often it is there.' }),
    })
    .meta({ id: 'EditConflict' }),
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
  tooLarge: tooLargeAnswer,
})

const restoreSchema = z
  .strictObject({
    key: memoryKey,
    version: integer({ ...fields.expectedVersion, minimum: 1 }),
    expectedVersion: expectedVersion.meta({
      description: 'The current version; 0 to restore a deleted memory.',
    }),
  })
  .meta({ id: 'MemoryRestore' })

export const restore: MemoryVerb<typeof restoreSchema> = {
  schema: restoreSchema,
  change: (sent) => ({ verb: 'restore', ...sent }),
  errors: ['version_not_found', 'version_gone', 'memory_quota_reached'],
  tool: {
    name: 'restore_memory',
    title: 'Restore a memory',
    description:
      'Makes an earlier version the newest: memory_history lists them, and list_memories what was deleted.',
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

const deleteSchema = z
  .strictObject({ key: memoryKey, expectedVersion })
  .meta({ id: 'MemoryDelete' })

const remove: MemoryVerb<typeof deleteSchema> = {
  schema: deleteSchema,
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

function noteOf(found: Awaited<ReturnType<typeof lastOfDeleted>>): string {
  if (!found) return 'GET /api/agents/me/memory/versions lists what can be restored.'
  if (found.last === undefined) return 'None of its versions is retained: it cannot be restored.'
  return `Its versions are retained: POST /api/agents/me/memory/restore with version ${found.last} and expectedVersion 0 restores it. Only the operator can erase it permanently.`
}

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
        note: noteOf({ last: 3 }),
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
    const last = await lastOfDeleted(home, identity, deleted.key)
    return json(call, 200, { deleted, note: noteOf(last) })
  },
})

const renameSchema = z
  .strictObject({ from: memoryKey, to: memoryKey, expectedVersion })
  .meta({ id: 'MemoryRename' })

const rename: MemoryVerb<typeof renameSchema> = {
  schema: renameSchema,
  change: (sent) => ({ verb: 'rename', ...sent }),
  errors: ['memory_not_found', 'key_taken'],
}

const readSchema = z.strictObject({ key: memoryKey }).meta({ id: 'MemoryRead' })

const read: MemoryVerb<typeof readSchema> = {
  schema: readSchema,
  change: (sent) => ({ verb: 'read', ...sent }),
  errors: [],
}

export const verbs = { write, patch, append, edit, delete: remove, restore, rename, read } as const

export type VerbName = keyof typeof verbs

export const verbNames = Object.keys(verbs) as readonly VerbName[]
