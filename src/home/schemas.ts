/** The interface's fields as zod schemas. */
import { z } from '@hono/zod-openapi'
import { symbolIds } from '../symbols.ts'
import { fields } from './limits.ts'

export const memoryKey = z
  .string('must be a string')
  .regex(
    new RegExp(fields.key.pattern),
    'must be 1 to 100 letters, digits, underscores, dots or hyphens',
  )
  .openapi({ example: 'plan.current' })

export const symbolId = z
  .enum(symbolIds, 'must be one of the symbol ids in /api/agents/preview')
  .openapi({ example: 'zerno' })

export const agentStatus = z.enum(['active', 'paused'], 'must be "active" or "paused"')

const dateTime = z.string().openapi({ format: 'date-time' })

export const profileSchema = z
  .object({
    agent_id: z.string().openapi({ format: 'uuid' }),
    name: z.string(),
    purpose: z.string(),
    symbol: symbolId,
    status: agentStatus,
    createdAt: dateTime,
    updatedAt: dateTime,
  })
  .openapi('Profile')

export const profileResult = z
  .object({ profile: profileSchema, memoryCount: z.int() })
  .openapi('ProfileResult')

export const memorySchema = z
  .object({
    id: z.string().openapi({ format: 'uuid' }),
    key: memoryKey,
    text: z.string(),
    metadata: z.record(z.string(), z.unknown()),
    version: z.int().min(1),
    createdAt: dateTime,
    updatedAt: dateTime,
  })
  .openapi('Memory')

export const memoryResult = z.object({ memory: memorySchema }).openapi('MemoryResult')

/** Examples, shown in the OpenAPI document; a test holds them to the schemas. */
export const profileExample = {
  agent_id: '019a9c5e-7c00-7d6a-8f00-5b1f0a2b3c4d',
  name: 'Atlas',
  purpose: 'Keeps the plan of a long migration.',
  symbol: 'zerno',
  status: 'active',
  createdAt: '2026-11-21T10:00:00.000Z',
  updatedAt: '2026-11-21T10:00:00.000Z',
} as const

export const memoryExample = {
  id: '019a9c5f-1a00-7c11-9d00-6c2f1b3c4d5e',
  key: 'plan.current',
  text: 'Step 3 of 7: copy the tables.',
  metadata: { run: 12 },
  version: 3,
  createdAt: '2026-11-21T10:00:00.000Z',
  updatedAt: '2026-11-21T10:05:00.000Z',
} as const
