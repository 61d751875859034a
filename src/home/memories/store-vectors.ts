/** POST /api/agents/me/memories/vectors: what a client's model makes of the texts. */
import { z } from 'zod'
import { json } from '../../http/call.ts'
import { endpoint } from '../../pipeline/endpoint.ts'
import { WRITE_ERRORS } from '../../pipeline/problem.ts'
import { forAgents, noQuery } from '../guards.ts'
import type { Home } from '../home.ts'
import { KEY_WRITE_ERRORS } from '../key-scope.ts'
import { vectors as bounds } from '../limits.ts'
import { refusal } from '../refusal.ts'
import { memoryKey, tag } from '../schemas.ts'
import { overQuota } from './answers.ts'
import { model, otherLength, vector } from './vector.ts'

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
    description: `Your model computes them from the texts; no model runs here. A vector belongs to the version that it names: it is found until the text changes, goes along with a rename or a change of the metadata, and is deleted with the text. A memory has one vector; a new one replaces it. Vectors are an index: neither versioned nor exported, and not in events. Their bytes, four for each number, count towards those of the home. At most ${bounds.perRequest} vectors and ${bounds.maxBytes} bytes in a request, which costs one write.`,
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
      description: 'What is stored, and what is not because the memory has another version now.',
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
            .meta({ description: 'Read these again and compute their vectors anew.' }),
        })
        .meta({ id: 'VectorsStored' }),
      example: { stored: 1, stale: [] },
    },
  },
  errors: [...WRITE_ERRORS, ...KEY_WRITE_ERRORS, 'memory_quota_reached'],
  async handle({ call, identity, body: { model, vectors } }, { store }: Home) {
    const found = await store.storeVectors(identity, model, vectors)
    if (found.outcome === 'other_length') {
      throw otherLength(found.numbers, ['vectors', 0, 'vector'])
    }
    if (found.outcome === 'over_quota') throw overQuota('bytes')
    if (found.outcome !== 'stored') throw refusal(found)
    return json(call, 200, { stored: found.stored, stale: found.stale })
  },
})
