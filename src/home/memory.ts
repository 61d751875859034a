/** GET and POST /api/agents/me/memory: one named text, under compare-and-swap. */

import { z } from 'zod'
import { problem } from '../errors.ts'
import { fields } from '../fields.ts'
import { type Answer, answer, type Call } from '../http/call.ts'
import { agreesWith, etagOf, notModified } from '../http/etag.ts'
import { compact, membersOf, withoutEscapes } from '../json/members.ts'
import { endpoint } from '../pipeline/endpoint.ts'
import { problemExample, problemSchema, WRITE_ERRORS } from '../pipeline/problem.ts'
import { dateTime, integer } from '../pipeline/schemas.ts'
import type { Identity } from '../store/port/home.ts'
import type { Memory, WriteAnswer } from '../store/port/memories.ts'
import { newId } from '../uuid.ts'
import { forAgents, noQuery } from './guards.ts'
import type { Home } from './home.ts'
import { body } from './limits.ts'
import { refusal } from './refusal.ts'
import { memoryExample, memoryKey, memoryResult, tag } from './schemas.ts'

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

const answers = {
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

export const readMemory = endpoint({
  operationId: 'readMemory',
  method: 'GET',
  path,
  docs: { tag, summary: 'Read a memory' },
  guards: forAgents('reads'),
  query: z.strictObject({ key: memoryKey }),
  answers: {
    ...answers,
    304: {
      description: 'The version is the one in If-None-Match.',
      headers: { ETag: 'The version, quoted.' },
    },
  },
  errors: ['memory_not_found'],
  handle: async ({ call, identity, query }, home: Home) =>
    show(call, await findMemory(home, identity, query.key)),
})

export const memoryWrite = z
  .strictObject({
    key: memoryKey,
    text: z
      .string('must be a string')
      .min(fields.text.minLength, 'must not be empty')
      .meta({
        maxLength: fields.text.maxBytes,
        description: `At most ${fields.text.maxBytes} UTF-8 bytes.`,
      }),
    metadata: z
      .record(z.string(), z.unknown(), 'must be an object')
      .default({})
      .meta({
        description: `Any properties; at most ${fields.metadata.maxBytes} bytes as serialized UTF-8 JSON. They come back as they were sent: every digit, and the order of keys.`,
      }),
    expectedVersion: integer(fields.expectedVersion).meta({
      description: '0 creates the memory; its current version updates it.',
    }),
  })
  .meta({ id: 'MemoryWrite' })

const versionConflict = problemSchema
  .extend({
    currentVersion: z.int().min(0).meta({ description: '0 where nothing is under the key.' }),
    updatedAt: dateTime.optional(),
    sameContent: z
      .boolean()
      .meta({ description: 'What is stored equals what was sent: the write is there already.' }),
  })
  .meta({ id: 'VersionConflict' })

const NOTHING_THERE =
  'Nothing was written, and nothing is under this key. Write it with expectedVersion 0 to create it.'

function conflict(found: WriteAnswer & { outcome: 'conflict' }) {
  const { currentVersion, updatedAt, sameContent } = found
  return problem('version_conflict', {
    ...(currentVersion === 0 && { detail: NOTHING_THERE }),
    members: {
      currentVersion,
      ...(updatedAt !== undefined && { updatedAt: new Date(updatedAt).toISOString() }),
      sameContent,
    },
    headers: currentVersion > 0 ? { ETag: etagOf(currentVersion) } : {},
  })
}

/** A client may spell as escapes what UTF-8 says in fewer bytes. */
function tooLarge(metadata: string): boolean {
  const { maxBytes } = fields.metadata
  return (
    Buffer.byteLength(metadata) > maxBytes && Buffer.byteLength(withoutEscapes(metadata)) > maxBytes
  )
}

/** Throws `text_too_large` or `metadata_too_large`. */
function measure(text: string, metadata: string): void {
  if (Buffer.byteLength(text) > fields.text.maxBytes) throw problem('text_too_large')
  if (tooLarge(metadata)) throw problem('metadata_too_large')
}

/** Waiting frees nothing here: an hour keeps an obedient client from asking again and again. */
const overQuota = () => problem('memory_quota_reached', { headers: { 'Retry-After': '3600' } })

/**
 * `sent` is the metadata's JSON as it was sent: numbers keep their digits, and keys their order.
 * Throws `version_conflict`, `memory_quota_reached`, and when the text or metadata is too large.
 */
export async function saveMemory(
  { store, clock, random }: Home,
  identity: Identity,
  { key, text, expectedVersion }: Omit<z.output<typeof memoryWrite>, 'metadata'>,
  sent: string,
): Promise<Memory> {
  const metadata = compact(sent)
  measure(text, metadata)
  const now = clock()
  const id = newId(now, random)
  const write = { id, key, text, metadata, expectedVersion }
  const written = await store.writeMemory(identity, write, now)
  if (written.outcome === 'saved') return written.memory
  if (written.outcome === 'conflict') throw conflict(written)
  if (written.outcome === 'over_quota') throw overQuota()
  throw refusal(written)
}

export const writeMemory = endpoint({
  operationId: 'writeMemory',
  method: 'POST',
  path,
  docs: {
    tag,
    summary: 'Create or update a memory under compare-and-swap',
    description:
      'The answer comes when the write is on disk. If-Match, where sent, must agree with expectedVersion.',
  },
  guards: forAgents('writes'),
  query: noQuery,
  body: {
    schema: memoryWrite,
    maxBytes: body.maxBytes,
    statuses: { otherType: 400, tooLarge: 413 },
    example: {
      key: memoryExample.key,
      text: memoryExample.text,
      metadata: memoryExample.metadata,
      expectedVersion: 2,
    },
  },
  answers: {
    ...answers,
    409: {
      description: 'Another version is there.',
      schema: versionConflict,
      example: {
        ...problemExample('version_conflict'),
        currentVersion: 4,
        updatedAt: '2026-11-21T10:06:00.000Z',
        sameContent: false,
      },
      headers: { ETag: 'The current version, quoted; none where nothing is.' },
    },
  },
  errors: [
    ...WRITE_ERRORS,
    'precondition_mismatch',
    'version_conflict',
    'text_too_large',
    'metadata_too_large',
    'memory_quota_reached',
  ],
  async handle({ call, identity, body, source }, home: Home) {
    if (!agreesWith(call, body.expectedVersion)) throw problem('precondition_mismatch')
    const metadata = membersOf(source).get('metadata') ?? '{}'
    return show(call, await saveMemory(home, identity, body, metadata))
  },
})
