/** POST /api/agents/me/memory/protect: lets only the operator change a memory, or anybody again. */
import { z } from 'zod'
import { json } from '../../http/call.ts'
import { endpoint } from '../../pipeline/endpoint.ts'
import { WRITE_ERRORS } from '../../pipeline/problem.ts'
import type { Identity } from '../../store/port/home.ts'
import { forOperators, noQuery } from '../guards.ts'
import type { Home } from '../home.ts'
import { body } from '../limits.ts'
import { refusal } from '../refusal.ts'
import { memoryExample, memoryKey, tag } from '../schemas.ts'
import { missingAnswer, notFound } from './answers.ts'

const schema = z
  .strictObject({ key: memoryKey, protected: z.boolean('must be true or false') })
  .meta({ id: 'MemoryProtection' })

const DELETED = 'The memory was deleted. Restore it first to protect it.'

/** The current version. Throws `memory_not_found`. */
export async function setProtected(
  { store, clock }: Home,
  identity: Identity,
  key: string,
  isProtected: boolean,
): Promise<number> {
  const found = await store.protectMemory(identity, key, isProtected, clock())
  if (found.outcome === 'missing') throw notFound(found.deleted, DELETED)
  if (found.outcome !== 'done') throw refusal(found)
  return found.version
}

export const protectMemory = endpoint({
  operationId: 'protectMemory',
  method: 'POST',
  path: '/api/agents/me/memory/protect',
  docs: {
    tag,
    summary: 'Protect a memory from its agent',
    description:
      'The agent and its named keys read a protected memory and change nothing of it: they get 403 memory_protected. The operator still changes it. It stays protected through changes and renames, until it is deleted. The version stays as it is.',
  },
  guards: forOperators('controls'),
  query: noQuery,
  body: {
    schema,
    maxBytes: body.maxBytes,
    example: { key: memoryExample.key, protected: true },
  },
  answers: {
    200: {
      description: 'As requested; nothing changes if it was so already.',
      schema: z
        .object({
          memory: z.object({ key: memoryKey, version: z.int().min(1), protected: z.boolean() }),
        })
        .meta({ id: 'Protected' }),
      example: { memory: { key: memoryExample.key, version: 3, protected: true } },
    },
    404: missingAnswer,
  },
  errors: [...WRITE_ERRORS, 'memory_not_found'],
  async handle({ call, identity, body: { key, protected: isProtected } }, home: Home) {
    const version = await setProtected(home, identity, key, isProtected)
    return json(call, 200, { memory: { key, version, protected: isProtected } })
  },
})
