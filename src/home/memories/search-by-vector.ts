/** POST /api/agents/me/memories/search: search by meaning, by words, or by both. */
import { z } from 'zod'
import { endpoint } from '../../pipeline/endpoint.ts'
import { forAgents, noQuery } from '../guards.ts'
import type { Home } from '../home.ts'
import { KEY_READ_ERRORS } from '../key-scope.ts'
import { body as bodyBounds } from '../limits.ts'
import { tag } from '../schemas.ts'
import { summaryExample } from './answers.ts'
import { CURSOR, cursorOf, hits, hitsAnswer, MAX_LIMIT, prefix, question } from './search.ts'
import { model, vector } from './vector.ts'

const limit = z
  .int('must be a whole number')
  .min(1, 'must be at least 1')
  .max(MAX_LIMIT, `must be at most ${MAX_LIMIT}`)

const schema = z
  .strictObject({
    q: question.optional(),
    vector: vector.optional(),
    model: model.optional(),
    prefix: prefix.optional(),
    limit: limit.optional(),
    after: z
      .string('must be a string')
      .regex(CURSOR, 'must be the next of an earlier response')
      .transform(cursorOf)
      .optional(),
  })
  .refine((sent) => sent.q !== undefined || sent.vector !== undefined, 'must have q or vector')
  .refine((sent) => sent.vector === undefined || sent.model !== undefined, {
    path: ['model'],
    message: 'must name the model of the vector',
  })
  .refine((sent) => sent.model === undefined || sent.vector !== undefined, {
    path: ['vector'],
    message: 'must be there if model is',
  })
  .meta({ id: 'MemorySearch' })

export const searchByVector = endpoint({
  operationId: 'searchByVector',
  method: 'POST',
  path: '/api/agents/me/memories/search',
  docs: {
    tag,
    summary: 'Find memories by meaning, by words, or by both',
    description:
      'With `vector`, memories whose current text has a vector of the same model, the most similar first (cosine). With `q` as well, both rankings are fused by reciprocal rank, so that what is high in either is found. With `q` alone, as GET.',
  },
  guards: forAgents('reads'),
  query: noQuery,
  body: {
    schema,
    maxBytes: bodyBounds.maxBytes,
    example: {
      q: 'How far is the migration?',
      model: 'text-embedding-3-small',
      vector: [0.12, -0.48, 0.87],
    },
  },
  answers: {
    200: {
      description: 'What was found.',
      schema: hits,
      example: {
        memories: [
          {
            ...summaryExample,
            matched: ['migration'],
            similarity: 0.83,
            text: 'Step 3 of 7: copy the tables.',
          },
        ],
        next: null,
      },
    },
  },
  errors: [...KEY_READ_ERRORS, 'overloaded'],
  handle({ call, identity, body: { q = '', vector, model, ...sent } }, home: Home) {
    const meant = vector && model !== undefined ? { model, vector } : undefined
    return hitsAnswer(home, { call, identity }, { ...sent, q, meant })
  },
})
