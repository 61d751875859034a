/** A version as it stands in an export, beside the memory that it is a version of. */

import { z } from 'zod'
import { dateTime } from '../../pipeline/schemas.ts'
import { OPERATIONS } from '../../store/port/keeping/memories.ts'
import type { KeptVersion } from '../../store/port/transfer.ts'
import { iso } from '../../time.ts'
import { author, authorExample, memoryExample, memoryKey } from '../schemas.ts'

export const keptSchema = z
  .object({
    key: memoryKey,
    id: z.string().meta({ format: 'uuid' }),
    version: z.int().min(1),
    operation: z.enum(OPERATIONS),
    by: author,
    createdAt: dateTime.meta({ description: 'When the memory was created.' }),
    updatedAt: dateTime.meta({ description: 'When the version was made.' }),
    text: z
      .string()
      .optional()
      .meta({ description: 'Absent for a deletion and for the current version.' }),
    metadata: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: 'KeptVersion' })

export const keptExample = {
  key: memoryExample.key,
  id: memoryExample.id,
  version: 3,
  operation: 'write',
  by: authorExample,
  createdAt: memoryExample.createdAt,
  updatedAt: memoryExample.updatedAt,
} as const

/** The metadata go out as the very text that was stored. */
export function keptJson({ content, by, createdAt, updatedAt, ...kept }: KeptVersion): string {
  const { key, id, version, operation } = kept
  const times = {
    createdAt: iso(createdAt),
    updatedAt: iso(updatedAt),
  }
  const facts = JSON.stringify({ key, id, version, operation, by: by ?? null, ...times })
  if (!content) return facts
  return `${facts.slice(0, -1)},"text":${JSON.stringify(content.text)},"metadata":${content.metadata}}`
}
