/** GET and POST /api/agents/me/memory: one named text, under compare-and-swap. */
import { z } from '@hono/zod-openapi'
import { v7 as uuidv7 } from 'uuid'
import { problem } from '../errors.ts'
import { type Answer, answer, type Call } from '../http/call.ts'
import { agreesWith, etagOf, notModified } from '../http/etag.ts'
import type { Identity, Memory, WriteAnswer } from '../store/port.ts'
import { bearerEndpoint, refusal } from './endpoint.ts'
import type { Home } from './home.ts'
import { fields } from './limits.ts'
import { memoryExample, memoryKey, memoryResult } from './schemas.ts'

const path = '/api/agents/me/memory'

/** The Memory as JSON; its metadata goes out as the very text that was stored. */
export function memoryJson(memory: Memory): string {
  const { id, key, text, metadata, version, createdAt, updatedAt } = memory
  const created = new Date(createdAt).toISOString()
  const updated = updatedAt === createdAt ? created : new Date(updatedAt).toISOString()
  return (
    `{"id":"${id}","key":"${key}","text":${JSON.stringify(text)},"metadata":${metadata},` +
    `"version":${version},"createdAt":"${created}","updatedAt":"${updated}"}`
  )
}

function show(call: Call, memory: Memory): Answer {
  const etag = etagOf(memory.version)
  call.responseHeaders.ETag = etag
  if (call.method !== 'POST' && notModified(call, etag)) return answer(call, 304, null)
  return answer(call, 200, `{"memory":${memoryJson(memory)}}`)
}

const responses = {
  200: {
    description: 'The memory.',
    schema: memoryResult,
    example: { memory: memoryExample },
    headers: { ETag: 'The version, quoted.' },
  },
}

/** Throws `memory_not_found`. */
export async function findMemory(
  { store }: Home,
  identity: Identity,
  key: string,
): Promise<Memory> {
  const found = await store.readMemory(identity, key)
  if (found.outcome === 'missing') throw problem('memory_not_found')
  if (found.outcome !== 'found') throw refusal(found)
  return found.memory
}

export const readMemory = bearerEndpoint({
  operationId: 'readMemory',
  method: 'GET',
  path,
  access: 'either-token',
  budget: 'reads',
  summary: 'Read a memory',
  query: z.strictObject({ key: memoryKey }),
  responses: {
    ...responses,
    304: { description: 'The version is the one in If-None-Match.' },
  },
  errors: ['memory_not_found'],
  handle: async ({ call, identity, query }, home) =>
    show(call, await findMemory(home, identity, query.key)),
})

export const memoryWrite = z
  .strictObject({
    key: memoryKey,
    text: z
      .string('must be a string')
      .min(1, 'must not be empty')
      .openapi({ maxLength: fields.text.maxBytes, description: 'At most 16384 UTF-8 bytes.' }),
    metadata: z
      .record(z.string(), z.unknown(), 'must be an object')
      .default({})
      .openapi({ description: 'Any properties; at most 4096 bytes as serialized UTF-8 JSON.' }),
    expectedVersion: z
      .int('must be an integer')
      .min(0, 'must be at least 0')
      .openapi({ description: '0 creates the memory; its current version updates it.' }),
  })
  .openapi('MemoryWrite')

function conflict(found: WriteAnswer & { outcome: 'conflict' }) {
  const { currentVersion, updatedAt, sameContent } = found
  return problem('version_conflict', {
    members: {
      currentVersion,
      ...(updatedAt !== undefined && { updatedAt: new Date(updatedAt).toISOString() }),
      sameContent,
    },
    headers: currentVersion > 0 ? { ETag: etagOf(currentVersion) } : {},
  })
}

/** Throws `text_too_large` or `metadata_too_large`; gives the metadata as it will be stored. */
function measure(text: string, metadata: Record<string, unknown>): string {
  if (Buffer.byteLength(text) > fields.text.maxBytes) throw problem('text_too_large')
  const serialized = JSON.stringify(metadata)
  if (Buffer.byteLength(serialized) > fields.metadata.maxBytes) throw problem('metadata_too_large')
  return serialized
}

/** Waiting frees nothing here: an hour keeps an obedient client from asking again and again. */
const overQuota = () => problem('memory_quota_reached', { headers: { 'Retry-After': '3600' } })

/** Throws `version_conflict`, `memory_quota_reached`, and when the text or metadata is too large. */
export async function saveMemory(
  { store, limits, clock, random }: Home,
  identity: Identity,
  { key, text, metadata, expectedVersion }: z.output<typeof memoryWrite>,
): Promise<Memory> {
  const serialized = measure(text, metadata)
  const now = clock()
  const id = uuidv7({ msecs: now, random: random(16) })
  const write = { id, key, text, metadata: serialized, expectedVersion }
  const written = await store.writeMemory(identity, write, limits.memoriesPerAgent, now)
  if (written.outcome === 'saved') return written.memory
  if (written.outcome === 'conflict') throw conflict(written)
  if (written.outcome === 'over_quota') throw overQuota()
  throw refusal(written)
}

export const writeMemory = bearerEndpoint({
  operationId: 'writeMemory',
  method: 'POST',
  path,
  access: 'either-token',
  budget: 'writes',
  summary: 'Create or update a memory under compare-and-swap',
  description:
    'The answer comes when the write is on disk. If-Match, where sent, must agree with expectedVersion.',
  body: {
    schema: memoryWrite,
    example: {
      key: memoryExample.key,
      text: memoryExample.text,
      metadata: memoryExample.metadata,
      expectedVersion: 2,
    },
  },
  responses,
  errors: [
    'precondition_mismatch',
    'version_conflict',
    'text_too_large',
    'metadata_too_large',
    'memory_quota_reached',
  ],
  async handle({ call, identity, body }, home) {
    if (!agreesWith(call, body.expectedVersion)) throw problem('precondition_mismatch')
    return show(call, await saveMemory(home, identity, body))
  },
})
