/** GET and POST /api/agents/me/memory: one named text, under compare-and-swap. */

import { z } from 'zod'
import { fields } from '../../fields.ts'
import { type Answer, answer, type Call } from '../../http/call.ts'
import { etagOf, notModified } from '../../http/etag.ts'
import { endpoint } from '../../pipeline/endpoint.ts'
import { queryInteger } from '../../pipeline/schemas.ts'
import type { Identity } from '../../store/port/identity.ts'
import type { Memory, VersionAnswer } from '../../store/port/memories.ts'
import { hash } from '../events.ts'
import { forAgents } from '../guards.ts'
import type { Home } from '../home.ts'
import { KEY_READ_ERRORS } from '../key-scope.ts'
import { refusal } from '../refusal.ts'
import { memoryExample, memoryKey, memorySchema, tag } from '../schemas.ts'
import {
  explained,
  ifNoneMatch,
  memoryJson,
  missingAnswer,
  notFound,
  saveWrite,
} from './answers.ts'
import { expectedVersion, measured, metadata, metadataIn, text } from './content.ts'
import { type MemoryVerb, savingEndpoint, writeContext } from './verb.ts'

const path = '/api/agents/me/memory'

function show(call: Call, memory: Memory): Answer {
  const etag = etagOf(memory.version)
  call.responseHeaders.ETag = etag
  if (notModified(call, etag)) return answer(call, 304, null)
  return answer(call, 200, `{"memory":${memoryJson(memory)}}`)
}

/** Its ETag would be that of a current version, so it has none. */
function showVersion(call: Call, found: FoundVersion, withProof: boolean): Answer {
  const { memory, currentVersion, salt = null } = found
  const proof = withProof ? `,"salt":${JSON.stringify(salt)}` : ''
  return answer(
    call,
    200,
    `{"memory":${memoryJson(memory)},"currentVersion":${currentVersion}${proof}}`,
  )
}

/** Throws `memory_not_found`. */
export async function findMemory(
  home: Pick<Home, 'store'>,
  identity: Identity,
  key: string,
): Promise<Memory> {
  const found = await home.store.readMemory(identity, key)
  if (found.outcome === 'missing') throw await notFound(home, identity, key, found.deleted)
  if (found.outcome !== 'found') throw refusal(found)
  return found.memory
}

type FoundVersion = Extract<VersionAnswer, { readonly outcome: 'found' }>

/** Throws `memory_not_found`, `version_not_found` or `version_gone`. */
export async function findPast(
  home: Pick<Home, 'store'>,
  identity: Identity,
  key: string,
  version: number,
): Promise<FoundVersion> {
  const found = await home.store.readVersion(identity, key, version)
  if (found.outcome === 'found') return found
  if (found.outcome === 'paused' || found.outcome === 'revoked') throw refusal(found)
  throw await explained(home, identity, key, found)
}

export const findVersion = async (...asked: Parameters<typeof findPast>): Promise<Memory> =>
  (await findPast(...asked)).memory

/** The current version, or an earlier one. Throws like `findMemory` and `findVersion`. */
export const findAt = (
  home: Home,
  identity: Identity,
  key: string,
  version: number | undefined,
): Promise<Memory> =>
  version === undefined
    ? findMemory(home, identity, key)
    : findVersion(home, identity, key, version)

export const readMemory = endpoint({
  operationId: 'readMemory',
  method: 'GET',
  path,
  docs: {
    tag,
    summary: 'Read a memory',
    description:
      'The current version, or the one given in version. For a deleted memory, the 404 contains deletedVersion, deletedAt and lastVersion, which can be restored; for a renamed one, renamedTo.',
    headers: ifNoneMatch,
  },
  guards: forAgents('reads'),
  query: z
    .strictObject({
      key: memoryKey,
      version: queryInteger({ minimum: 1 }).optional(),
      proof: z.enum(['true', 'false'], 'must be true or false').optional().meta({
        default: 'false',
        description: 'With version: include the salt that the event of the version committed with.',
      }),
    })
    .refine(({ proof, version }) => proof !== 'true' || version !== undefined, {
      path: ['proof'],
      error: 'goes with version: the salt belongs to one version',
    }),
  answers: {
    200: {
      description: 'The memory.',
      schema: z
        .object({
          memory: memorySchema,
          currentVersion: z.int().min(0).optional().meta({
            description: 'With version: the current one; 0 if the memory was deleted.',
          }),
          salt: hash.nullable().optional().meta({
            description:
              'With proof=true: with it, the content of the version’s event can be computed from text and metadata. null if no event committed to the version: it is from before the chain, or part of an imported history.',
          }),
        })
        .meta({ id: 'MemoryResult' }),
      example: { memory: memoryExample },
      headers: { ETag: 'The version, quoted; absent if an earlier version was requested.' },
    },
    304: {
      description: 'The version is still the one in If-None-Match.',
      headers: { ETag: 'The version, quoted.' },
    },
    404: missingAnswer,
  },
  errors: [...KEY_READ_ERRORS, 'memory_not_found', 'version_not_found', 'version_gone'],
  async handle({ call, identity, query: { key, version, proof } }, home: Home) {
    if (version === undefined) return show(call, await findMemory(home, identity, key))
    return showVersion(call, await findPast(home, identity, key, version), proof === 'true')
  },
})

export const memoryWrite = z
  .strictObject({
    key: memoryKey,
    text,
    metadata: metadata.optional().meta({ description: '{} if it is left out.' }),
    expectedVersion: expectedVersion.meta({
      description: '0 creates the memory; its current version updates it.',
    }),
  })
  .meta({ id: 'MemoryWrite' })

const change: MemoryVerb<typeof memoryWrite>['change'] = (sent, source, { newId }) => {
  const { key, text, expectedVersion } = sent
  const metadata = metadataIn(source) ?? '{}'
  return { verb: 'write', id: newId(), key, text, metadata, expectedVersion }
}

/** A model that sends no metadata means to keep what is there. */
const keeping: typeof change = (sent, source, context) => {
  const { key, text, expectedVersion } = sent
  return expectedVersion > 0 && metadataIn(source) === undefined
    ? { verb: 'patch', key, text, expectedVersion }
    : change(sent, source, context)
}

export const write: MemoryVerb<typeof memoryWrite> = {
  schema: memoryWrite,
  change,
  errors: ['text_too_large', 'metadata_too_large', 'memory_quota_reached'],
  tool: {
    name: 'write_memory',
    title: 'Write a memory',
    description:
      'Creates a memory (expectedVersion 0) or replaces its text (expectedVersion is the version that you read). If it is at another version, nothing is written and you are told which. Replaced versions stay in the history. Metadata {"pinned": true} makes it part of get_context.',
    idempotent: true,
    schema: memoryWrite.extend({
      key: memoryKey.meta({ description: 'Letters, digits, _ . - (at most 100).' }),
      metadata: metadata.optional().meta({
        description: `Any object, at most ${fields.metadata.maxBytes} bytes as JSON; kept if it is left out.`,
      }),
    }),
    change: keeping,
  },
}

/** `metadata`: as JSON. Throws size errors, `version_conflict` and `memory_quota_reached`. */
export function saveMemory(
  home: Home,
  identity: Identity,
  { key, text, expectedVersion }: Omit<z.output<typeof memoryWrite>, 'metadata'>,
  metadata: string,
): Promise<Memory> {
  const { now, newId } = writeContext(home)
  const sent = measured({ id: newId(), key, text, metadata, expectedVersion })
  return saveWrite(home, identity, sent, now)
}

export const writeMemory = savingEndpoint(write, {
  operationId: 'writeMemory',
  method: 'POST',
  path,
  summary: 'Create or update a memory under compare-and-swap',
  statuses: { otherType: 400, tooLarge: 413 },
  example: {
    key: memoryExample.key,
    text: memoryExample.text,
    metadata: memoryExample.metadata,
    expectedVersion: 2,
  },
})
