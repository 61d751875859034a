/** POST /api/agents/me/memories/vectors, and how clients send vectors. */
import { z } from 'zod'
import { problem } from '../../errors.ts'
import { fields } from '../../fields.ts'
import { json } from '../../http/call.ts'
import { WrittenNumber } from '../../json/decimals.ts'
import { pointerOf } from '../../json/pointer.ts'
import { endpoint } from '../../pipeline/endpoint.ts'
import { WRITE_ERRORS } from '../../pipeline/problem.ts'
import { forAgents, noQuery } from '../guards.ts'
import type { Home } from '../home.ts'
import { KEY_WRITE_ERRORS } from '../key-scope.ts'
import { vectors as bounds } from '../limits.ts'
import { refusal } from '../refusal.ts'
import { memoryKey, tag } from '../schemas.ts'
import { overQuota } from './answers.ts'

const { maxNumbers } = fields.vector
const NUMBER_BYTES = Float32Array.BYTES_PER_ELEMENT
const LENGTH = `must have 1 to ${maxNumbers} numbers`

/** Without line breaks; padded or not. */
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/
const MOST_CHARS = Math.ceil((maxNumbers * NUMBER_BYTES) / 3) * 4

export const model = z
  .string('must be a string')
  .regex(new RegExp(fields.model.pattern), 'must be 1 to 100 letters, digits or _ . - / : @')
  .meta({
    description:
      'The model that computed the vector; include its version or dimensions if it has several.',
    example: 'text-embedding-3-small',
  })

/** The numbers, or why there are none. */
type Numbers = Float64Array | Float32Array | string

function ofList(sent: readonly unknown[]): Numbers {
  if (sent.length === 0 || sent.length > maxNumbers) return LENGTH
  const numbers = new Float64Array(sent.length)
  for (let at = 0; at < sent.length; at++) {
    const each = sent[at]
    const number = each instanceof WrittenNumber ? Number(each.literal) : each
    if (typeof number !== 'number') return `must be numbers only: the one at ${at} is not`
    numbers[at] = number
  }
  return numbers
}

function ofBase64(sent: string): Numbers {
  if (sent.length > MOST_CHARS) return LENGTH
  const bytes = BASE64.test(sent) ? new Uint8Array(Buffer.from(sent, 'base64')) : new Uint8Array(1)
  if (bytes.length % NUMBER_BYTES > 0) {
    return 'must be Base64 of 32-bit floats in little-endian order'
  }
  return bytes.length === 0 ? LENGTH : new Float32Array(bytes.buffer)
}

/**
 * Of length 1, so that the product of two vectors is the cosine of their angle. By indexes: hundreds
 * of thousands of numbers come in one request, and callbacks take ten times as long.
 */
function unit(numbers: Float64Array | Float32Array): Float32Array | string {
  let largest = 0
  for (let at = 0; at < numbers.length; at++) {
    const size = Math.abs(numbers[at] ?? 0)
    if (!(size < Number.POSITIVE_INFINITY)) return 'must have finite numbers only'
    if (size > largest) largest = size
  }
  if (largest === 0) return 'must have a number other than 0'
  let sum = 0
  for (let at = 0; at < numbers.length; at++) sum += ((numbers[at] ?? 0) / largest) ** 2
  const length = Math.sqrt(sum)
  const made = new Float32Array(numbers.length)
  for (let at = 0; at < numbers.length; at++) made[at] = (numbers[at] ?? 0) / largest / length
  return made
}

function vectorOf(sent: unknown): Float32Array | string {
  if (!Array.isArray(sent) && typeof sent !== 'string') {
    return 'must be a list of numbers, or Base64 of 32-bit floats in little-endian order'
  }
  const numbers = typeof sent === 'string' ? ofBase64(sent) : ofList(sent)
  return typeof numbers === 'string' ? numbers : unit(numbers)
}

/** A list of numbers or Base64; becomes a vector of length 1. */
export const vector = z
  .unknown()
  .transform((sent, { addIssue }) => {
    const made = vectorOf(sent)
    if (typeof made !== 'string') return made
    addIssue({ code: 'custom', message: made })
    return z.NEVER
  })
  .meta({
    id: 'Vector',
    anyOf: [
      { type: 'array', items: { type: 'number' }, minItems: 1, maxItems: maxNumbers },
      { type: 'string', contentEncoding: 'base64', maxLength: MOST_CHARS },
    ],
    description:
      'Numbers, or Base64 of them as 32-bit floats in little-endian order, which embedding APIs return as encoding_format "base64". Only the direction counts.',
    example: [0.12, -0.48, 0.87],
  })

export const otherLength = (numbers: number, path: readonly PropertyKey[]) =>
  problem('invalid_body', {
    errors: [
      {
        pointer: pointerOf(path),
        message: `must have ${numbers} numbers, as the vectors of this model in this home have: name another model for another length`,
      },
    ],
  })

const version = z.int('must be a whole number').min(1, 'must be at least 1')

const schema = z
  .strictObject({
    model,
    vectors: z
      .array(
        z.strictObject({
          key: memoryKey,
          version: version.meta({ description: 'The version whose text the vector is of.' }),
          vector,
        }),
        'must be a list of vectors',
      )
      .min(1, 'must have at least one vector')
      .max(bounds.perRequest, `must have at most ${bounds.perRequest} vectors`)
      .refine(
        (sent) => sent.every((each) => each.vector.length === sent[0]?.vector.length),
        'must have the same number of numbers in each vector',
      ),
  })
  .meta({ id: 'MemoryVectors' })

export const storeVectors = endpoint({
  operationId: 'storeVectors',
  method: 'POST',
  path: '/api/agents/me/memories/vectors',
  docs: {
    tag,
    summary: 'Store vectors for search by meaning',
    description: `Your model computes them from the texts; no model runs here. A vector belongs to the version that it names: it is found until the text changes, goes along with a rename or a change of the metadata, and is deleted with the text. A memory has one vector; a new one replaces it. Vectors are neither versioned nor exported, and not in events. Their bytes, four for each number, count towards those of the home. At most ${bounds.perRequest} vectors and ${bounds.maxBytes} bytes in a request, which costs one write.`,
  },
  guards: forAgents('writes'),
  query: noQuery,
  body: {
    schema,
    maxBytes: bounds.maxBytes,
    example: {
      model: 'text-embedding-3-small',
      vectors: [{ key: 'plan.current', version: 3, vector: [0.12, -0.48, 0.87] }],
    },
  },
  answers: {
    200: {
      description: 'What is stored, and what is not.',
      schema: z
        .object({
          stored: z.int().min(0),
          stale: z
            .array(
              z.object({
                key: memoryKey,
                currentVersion: z.int().min(0).meta({ description: '0: there is no memory.' }),
              }),
            )
            .meta({ description: 'At another version now: recompute their vectors.' }),
          protected: z.array(z.string()).optional().meta({
            description: 'Only the operator stores theirs.',
          }),
        })
        .meta({ id: 'VectorsStored' }),
      example: { stored: 1, stale: [] },
    },
  },
  errors: [...WRITE_ERRORS, ...KEY_WRITE_ERRORS, 'memory_protected', 'memory_quota_reached'],
  async handle({ call, identity, body: { model, vectors } }, { store }: Home) {
    const found = await store.storeVectors(identity, model, vectors)
    if (found.outcome === 'other_length') {
      throw otherLength(found.numbers, ['vectors', 0, 'vector'])
    }
    if (found.outcome === 'over_quota') throw overQuota('bytes')
    if (found.outcome === 'protected') throw problem('memory_protected')
    if (found.outcome !== 'stored') throw refusal(found)
    const { outcome: _, ...stored } = found
    return json(call, 200, stored)
  },
})
