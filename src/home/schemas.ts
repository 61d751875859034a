/** The interface's fields as zod schemas. */
import { z } from 'zod'
import { fields } from '../fields.ts'
import { dateTime } from '../pipeline/schemas.ts'
import { DOORS } from '../store/port/identity.ts'
import { oneOfTheSymbols, symbolIds } from '../symbols.ts'

/** The home's tag in the OpenAPI document. */
export const tag = 'Agent home'

export const memoryKey = z
  .string('must be a string')
  .regex(
    new RegExp(fields.key.pattern),
    'must be 1 to 100 letters, digits, underscores, dots or hyphens',
  )
  .meta({ example: 'plan.current' })

export const symbolId = z
  .enum(symbolIds, { error: oneOfTheSymbols('/api/agents/preview') })
  .meta({ id: 'AgentSymbol', example: 'zerno' })

export const agentStatus = z.enum(['active', 'paused'], 'must be "active" or "paused"')

export const profileSchema = z
  .object({
    agent_id: z.string().meta({ format: 'uuid' }),
    name: z.string(),
    purpose: z.string(),
    symbol: symbolId,
    status: agentStatus,
    createdAt: dateTime,
    updatedAt: dateTime,
  })
  .meta({ id: 'Profile' })

export const countInReach = z
  .int()
  .meta({ description: 'For a key with a prefix: only the memories that start with it.' })

export const profileResult = z
  .object({ profile: profileSchema, memoryCount: countInReach })
  .meta({ id: 'ProfileResult' })

export const memorySchema = z
  .object({
    id: z.string().meta({ format: 'uuid' }),
    key: memoryKey,
    text: z.string(),
    metadata: z.record(z.string(), z.unknown()),
    version: z.int().min(1),
    createdAt: dateTime,
    updatedAt: dateTime,
  })
  .meta({ id: 'Memory' })

/** The author of a change, and the interface it came through. */
export const author = z
  .object({
    as: z.enum(['agent', 'operator']),
    via: z.enum(DOORS).meta({ description: '`host`: a command on the machine of the service.' }),
    account: z
      .string()
      .optional()
      .meta({ description: 'The e-mail address of the operator, for a change in the console.' }),
    key: z
      .object({ id: z.string(), name: z.string() })
      .optional()
      .meta({ description: 'The named key that was used, if any.' }),
    run: z.string().optional().meta({
      description: 'What the client called its run, in Agent-Run. Nobody verifies it.',
    }),
  })
  .nullable()
  .meta({ id: 'Author', description: 'null if the change was made before authors were recorded.' })

export const authorExample = { as: 'agent', via: 'api' } as const

/** Examples in the OpenAPI document; a test validates them against the schemas. */
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
