/** The operations of a batch, by their property. */
import { z } from 'zod'
import { memoryKey } from '../schemas.ts'
import { append } from './append.ts'
import { expectedVersion } from './content.ts'
import { remove } from './delete.ts'
import { edit } from './edit.ts'
import { write } from './memory.ts'
import { patch } from './patch.ts'
import { restore } from './restore.ts'
import type { MemoryVerb } from './verb.ts'

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
