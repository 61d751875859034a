/** What only the operator does with a memory: protects it, and erases it for good. */
import { z } from 'zod'
import { problem } from '../../errors.ts'
import { fields } from '../../fields.ts'
import { json } from '../../http/call.ts'
import { endpoint } from '../../pipeline/endpoint.ts'
import { WRITE_ERRORS } from '../../pipeline/problem.ts'
import { integer } from '../../pipeline/schemas.ts'
import type { Identity } from '../../store/port/identity.ts'
import type { Erasure } from '../../store/port/memories.ts'
import { forOperators, noQuery } from '../guards.ts'
import type { Home } from '../home.ts'
import { body } from '../limits.ts'
import { refusal } from '../refusal.ts'
import { memoryExample, memoryKey, tag } from '../schemas.ts'
import { missingAnswer, notFound } from './answers.ts'

const protection = z
  .strictObject({ key: memoryKey, protected: z.boolean('must be true or false') })
  .meta({ id: 'MemoryProtection' })

/** The current version. Throws `memory_not_found`. */
export async function setProtected(
  home: Home,
  identity: Identity,
  key: string,
  isProtected: boolean,
): Promise<number> {
  const found = await home.store.protectMemory(identity, key, isProtected, home.clock())
  if (found.outcome === 'missing') throw await notFound(home, identity, key, found.deleted)
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
    schema: protection,
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

const MAX_VERSIONS = 1_000

const NO_LIST = `must be "all", "history" or a list of 1 to ${MAX_VERSIONS} version numbers`

const versionNumber = integer({ ...fields.expectedVersion, minimum: 1 })

const erasure = z
  .strictObject({
    key: memoryKey,
    versions: z
      .union(
        [
          z.enum(['all', 'history']),
          z.array(versionNumber).min(1, NO_LIST).max(MAX_VERSIONS, NO_LIST),
        ],
        NO_LIST,
      )
      .meta({
        description:
          '"all": the memory and its history; "history": all versions except the current one; or a list of versions that are not current.',
      }),
  })
  .meta({ id: 'MemoryErasure' })

/** The erased versions. Throws `memory_not_found`, `version_current`. */
export async function eraseVersions(
  home: Home,
  identity: Identity,
  key: string,
  versions: Erasure,
): Promise<readonly number[]> {
  const found = await home.store.eraseMemory(identity, key, versions, home.clock())
  if (found.outcome === 'missing') {
    const now = await home.store.readMemory(identity, key)
    const deleted = now.outcome === 'missing' ? now.deleted : undefined
    throw await notFound(home, identity, key, deleted)
  }
  if (found.outcome === 'current') throw problem('version_current')
  if (found.outcome !== 'erased') throw refusal(found)
  return found.versions
}

export const eraseMemory = endpoint({
  operationId: 'eraseMemory',
  method: 'POST',
  path: '/api/agents/me/memory/erase',
  docs: {
    tag,
    summary: 'Permanently erase a memory, its history, or some versions',
    description:
      'When this call returns, the texts are permanently erased; the version numbers remain. Erasing a whole memory also deletes it.',
  },
  guards: forOperators('controls'),
  query: noQuery,
  body: {
    schema: erasure,
    maxBytes: body.maxBytes,
    example: { key: memoryExample.key, versions: 'history' },
  },
  answers: {
    200: {
      description: 'The versions that were erased.',
      schema: z
        .object({ erased: z.object({ key: memoryKey, versions: z.array(z.int().min(1)) }) })
        .meta({ id: 'Erased' }),
      example: { erased: { key: memoryExample.key, versions: [1, 2] } },
    },
    404: missingAnswer,
  },
  errors: [...WRITE_ERRORS, 'memory_not_found', 'version_current'],
  async handle({ call, identity, body: { key, versions } }, home: Home) {
    const erased = await eraseVersions(home, identity, key, versions)
    return json(call, 200, { erased: { key, versions: erased } })
  },
})
