/** A memory as lists show it: without its text, unless whole ones are asked for. */

import { z } from 'zod'
import type { MemorySummary } from '../../store/port/keeping/memories.ts'
import { iso } from '../../time.ts'
import { memorySchema } from '../schemas.ts'

export const summarySchema = memorySchema
  .omit({ text: true })
  .extend({
    bytes: z.int().min(1).meta({ description: 'UTF-8 bytes of the text.' }),
    text: z.string().optional().meta({ description: 'With view=whole.' }),
  })
  .meta({ id: 'MemorySummary' })

/** As JSON; its metadata goes out as the very text that was stored. `more`: further members. */
export function summaryJson(summary: Omit<MemorySummary, 'change'>, more = ''): string {
  const { id, key, bytes, metadata, version, createdAt, updatedAt, text } = summary
  const whole = text === undefined ? '' : `"text":${JSON.stringify(text)},`
  return (
    `{"id":"${id}","key":"${key}","bytes":${bytes},${whole}"metadata":${metadata},` +
    `"version":${version},"createdAt":"${iso(createdAt)}","updatedAt":"${iso(updatedAt)}"${more}}`
  )
}

export const summaryExample = {
  id: '019a9c5f-1a00-7c11-9d00-6c2f1b3c4d5e',
  key: 'plan.current',
  bytes: 29,
  metadata: { run: 12 },
  version: 3,
  createdAt: '2026-11-21T10:00:00.000Z',
  updatedAt: '2026-11-21T10:05:00.000Z',
} as const
