/** GET and POST /api/agents/me/memories/search: search by words, by meaning, or by both. */
import { z } from 'zod'
import { fields } from '../../fields.ts'
import { type Answer, answer, type Call } from '../../http/call.ts'
import { showState } from '../../pipeline/budgets.ts'
import { endpoint } from '../../pipeline/endpoint.ts'
import { clientOf } from '../../pipeline/failures.ts'
import { spenderOf } from '../../pipeline/guards/budget.ts'
import { boundedInteger, dateTime, queryInteger } from '../../pipeline/schemas.ts'
import type { Identity } from '../../store/port/identity.ts'
import type { Neighbour, SearchCursor, SearchHit, SearchQuery } from '../../store/port/search.ts'
import { iso } from '../../time.ts'
import { forAgents, noQuery } from '../guards.ts'
import type { Home } from '../home.ts'
import { KEY_READ_ERRORS } from '../key-scope.ts'
import { body as bodyBounds } from '../limits.ts'
import { refusal } from '../refusal.ts'
import { memoryExample, memoryKey, tag } from '../schemas.ts'
import { summaryExample, summaryJson, summarySchema } from './answers.ts'
import { knownElsewhere } from './list.ts'
import { model, otherLength, vector } from './vectors.ts'

const DEFAULT_LIMIT = 10
const MAX_LIMIT = 100
const MIB = 1_048_576

/** How many were shown, and the last of them. */
export const CURSOR = /^(\d{1,6})~([\w.-]{1,100})$/

export const cursorText = ({ shown, last }: SearchCursor): string => `${shown}~${last}`

export function cursorOf(text: string): SearchCursor {
  const [, shown = '0', last = ''] = CURSOR.exec(text) ?? []
  return { shown: Number(shown), last }
}

const { minLength, maxBytes } = fields.search

const words = z
  .string('must be a string')
  .refine((q) => Buffer.byteLength(q) <= maxBytes, `must be at most ${maxBytes} bytes long`)
  .meta({ maxLength: maxBytes })

export const question = words
  .refine((q) => q.trim() !== '', 'must contain something to search for')
  .meta({ minLength })

/** What an agent is about to do; undefined if it says nothing. */
export const task = words.transform((about) => (about.trim() === '' ? undefined : about)).optional()

const AROUND = 'So many memories right before and right after each result come with it.'

/** In a query, where numbers are text. */
export const aroundParameter = queryInteger(fields.around)
  .optional()
  .meta({ default: 0, description: AROUND })

export const around = boundedInteger(fields.around)
  .optional()
  .meta({ default: 0, description: AROUND })

const prefix = z
  .string('must be a string')
  .regex(/^[\w.-]{1,100}$/, 'must be the start of a key: letters, digits, _ . -')
  .meta({ description: 'Only keys that start with this prefix.' })

const after = z
  .string('must be a string')
  .regex(CURSOR, 'must be the next of an earlier response')
  .transform(cursorOf)
  .optional()

const match = z.enum(['any', 'all']).optional().meta({
  description:
    'any: at least one word of `q`, ranked. all: every word of `q`, as a whole word or part of one.',
  default: 'any',
})

const query = z
  .strictObject({
    q: question.meta({
      description:
        'A question or some words, up to 16 KiB of UTF-8. A phrase in "double quotes" must occur exactly, unless there are more than 500 characters. More than 64 words are cut to those that the fewest memories have.',
      example: 'How far is the migration?',
    }),
    match,
    around: aroundParameter,
    prefix: prefix.optional(),
    limit: z
      .string()
      .regex(/^([1-9]\d?|100)$/, `must be a whole number from 1 to ${MAX_LIMIT}`)
      .transform(Number)
      .optional()
      .meta({ type: 'integer', minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT }),
    after: after.meta({ type: 'string', description: 'The `next` of the previous page.' }),
  })
  .meta(knownElsewhere)

const neighbours = z
  .array(
    z
      .object({
        key: memoryKey,
        version: z.int().min(1),
        updatedAt: dateTime,
        text: z.string().optional().meta({ description: 'If it has at most 400 characters.' }),
        snippet: z.string().optional().meta({ description: 'Otherwise: its beginning.' }),
      })
      .meta({ id: 'Neighbour' }),
  )
  .optional()

/** Of a hit. */
export const surroundings = {
  before: neighbours.meta({
    description:
      'With `around`: the memories right before it, in order. Memories are neighbours if their keys differ only in the number at the end, and then follow its order; or if their keys are the same up to the last dot, and then follow the order in which they were created.',
  }),
  after: neighbours.meta({ description: 'With `around`: those right after it.' }),
}

export const missingWords = z.array(z.string()).meta({
  description:
    'Words of the question that no memory has in any form, in lower case: ask with other words. Of one that was cut, those among the words it was cut to. Never stop words.',
})

const hitSchema = summarySchema
  .extend({
    matched: z.array(z.string()).meta({
      description: 'Words of the memory that match words of `q`, in lower case.',
    }),
    similarity: z.number().min(-1).max(1).optional().meta({
      description: 'The cosine of the angle between its vector and the one that was sent.',
    }),
    text: z.string().optional().meta({
      description:
        'The whole text: in a search if it has at most 400 characters, in a context if it fits.',
    }),
    snippet: z.string().optional().meta({
      description:
        'At most 200 characters around the best match, as plain text in composed form (NFC), with an ellipsis where text was omitted.',
    }),
    ...surroundings,
  })
  .meta({ id: 'MemoryHit' })

const hits = z
  .object({
    memories: z.array(hitSchema).meta({ description: 'Best first.' }),
    next: z
      .string()
      .nullable()
      .meta({ description: 'The value of `after` for the next page; null at the end.' }),
    missing: missingWords,
  })
  .meta({ id: 'MemoryHits' })

const foundAnswer = (measured: { readonly similarity?: number }) => ({
  description: 'What was found.',
  schema: hits,
  example: {
    memories: [
      { ...summaryExample, matched: ['migration'], ...measured, text: memoryExample.text },
    ],
    next: null,
    missing: ['far'],
  },
})

const neighbourView = (neighbour: Neighbour) => ({
  ...neighbour,
  updatedAt: iso(neighbour.updatedAt),
})

interface Beside {
  readonly before?: readonly Neighbour[] | undefined
  readonly after?: readonly Neighbour[] | undefined
}

/** What stands beside a hit, as it is shown. */
export const besideView = ({ before, after }: Beside) => ({
  before: before?.map(neighbourView),
  after: after?.map(neighbourView),
})

function hitJson({ matched, similarity, text, snippet, before, after, ...summary }: SearchHit) {
  const more = { matched, similarity, text, snippet, ...besideView({ before, after }) }
  return summaryJson(summary, `,${JSON.stringify(more).slice(1, -1)}`)
}

/** Takes one read per MiB that was read, besides the one for the request. */
async function chargeFor({ budgets }: Home, identity: Identity, looked: number, call?: Call) {
  for (let left = Math.floor(looked / MIB); left > 0; left--) {
    const state = await budgets.take('reads', spenderOf(identity))
    if (call) showState(call, state)
    if (!state.allowed) return
  }
}

/** Searches when it is the client's turn. Throws `overloaded`, and the refusal of the identity. */
export async function searchInTurn(
  home: Home,
  client: string,
  identity: Identity,
  query: SearchQuery,
  call?: Call,
) {
  const { store, searches } = home
  const found = await searches.run({ client }, () => store.searchMemories(identity, query))
  if (found.outcome === 'other_length') throw otherLength(found.numbers, ['vector'])
  if (found.outcome !== 'hits') throw refusal(found)
  await chargeFor(home, identity, found.looked, call)
  return found
}

interface Asked extends Pick<SearchQuery, 'q' | 'meant' | 'around' | 'after'> {
  readonly match?: 'any' | 'all' | undefined
  readonly prefix?: string | undefined
  readonly limit?: number | undefined
}

/** The answer to a search, with defaults for what was not sent. */
async function hitsAnswer(
  home: Home,
  { call, identity }: { readonly call: Call; readonly identity: Identity },
  { match, prefix = '', limit = DEFAULT_LIMIT, ...asked }: Asked,
): Promise<Answer> {
  const query = { ...asked, all: match === 'all', prefix, limit }
  const found = await searchInTurn(home, clientOf(call, home), identity, query, call)
  const next = found.next ? cursorText(found.next) : null
  const rest = JSON.stringify({ next, missing: found.missing }).slice(1)
  return answer(call, 200, `{"memories":[${found.hits.map(hitJson).join(',')}],${rest}`)
}

export const searchMemories = endpoint({
  operationId: 'searchMemories',
  method: 'GET',
  path: '/api/agents/me/memories/search',
  docs: {
    tag,
    summary: 'Find memories by a question or words',
    description:
      'Memories with at least one word of `q` in the key, text or metadata, best first (BM25+): rare words count more than common ones, an exact word more than an inflection, a compound or a misspelling of it, the key more than the text, and adjacent words more than distant ones; memories next to each other (numbered keys, or written within minutes under one prefix) share some of their scores, and days count in any form; ties are broken by the more recent change. Stop words such as "the" or "wie" count only if the question has no others. Case and accents are ignored, and scripts without spaces are supported. A search costs one read, and one more for each MiB that has to be read to build the index, which is kept for recently searched homes.',
  },
  guards: forAgents('reads'),
  query,
  answers: { 200: foundAnswer({}) },
  errors: [...KEY_READ_ERRORS, 'overloaded'],
  handle({ call, identity, query }, home: Home) {
    return hitsAnswer(home, { call, identity }, query)
  },
})

const limit = z
  .int('must be a whole number')
  .min(1, 'must be at least 1')
  .max(MAX_LIMIT, `must be at most ${MAX_LIMIT}`)

const searchSchema = z
  .strictObject({
    q: question.optional(),
    vector: vector.optional(),
    model: model.optional(),
    match,
    around,
    prefix: prefix.optional(),
    limit: limit.optional(),
    after,
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
      'With `vector`, memories whose current text has a vector of the same model, the most similar first (cosine). With `q` as well, both rankings are fused by reciprocal rank, so that what is high in either is found. With `q` alone, as GET, also where `q` is too long for a URL.',
  },
  guards: forAgents('reads'),
  query: noQuery,
  body: {
    schema: searchSchema,
    maxBytes: bodyBounds.maxBytes,
    example: {
      q: 'How far is the migration?',
      model: 'text-embedding-3-small',
      vector: [0.12, -0.48, 0.87],
    },
  },
  answers: { 200: foundAnswer({ similarity: 0.83 }) },
  errors: [...KEY_READ_ERRORS, 'overloaded'],
  handle({ call, identity, body: { q = '', vector, model, ...sent } }, home: Home) {
    const meant = vector && model !== undefined ? { model, vector } : undefined
    return hitsAnswer(home, { call, identity }, { ...sent, q, meant })
  },
})
