/** GET /api/agents/me/memories/search: what the agent knows about something. */
import { z } from 'zod'
import { fields } from '../../fields.ts'
import { answer } from '../../http/call.ts'
import { endpoint } from '../../pipeline/endpoint.ts'
import { clientOf } from '../../pipeline/failures.ts'
import { characters } from '../../pipeline/schemas.ts'
import type { Identity } from '../../store/port/home.ts'
import type { SearchCursor, SearchHit, SearchQuery } from '../../store/port/keeping/search.ts'
import { forAgents } from '../guards.ts'
import type { Home } from '../home.ts'
import { READING } from '../reach.ts'
import { refusal } from '../refusal.ts'
import { tag } from '../schemas.ts'
import { summaryExample, summaryJson, summarySchema } from './summary.ts'

const DEFAULT_LIMIT = 20
const MAX_LIMIT = 100

/** How many were shown, the last of them, and the keys between which this look looks. */
export const CURSOR = /^(\d{1,6})~([\w.-]{0,100})~([\w.-]{0,100})~([\w.-]{0,100})$/

export const cursorText = ({ shown, last, looked, until }: SearchCursor): string =>
  `${shown}~${last}~${looked}~${until}`

export function cursorOf(text: string): SearchCursor {
  const [, shown = '0', last = '', looked = '', until = ''] = CURSOR.exec(text) ?? []
  return { shown: Number(shown), last, looked, until }
}

const query = z.strictObject({
  q: characters(fields.search)
    .refine((q) => q === '' || q.trim() !== '', 'must hold something to look for')
    .meta({ description: 'Words, or parts of words.', example: 'migration tables' }),
  prefix: z
    .string()
    .regex(/^[\w.-]{1,100}$/, 'must be how keys begin: letters, digits, _ . -')
    .optional()
    .meta({ description: 'Only keys that begin with it.' }),
  limit: z
    .string()
    .regex(/^([1-9]\d?|100)$/, `must be a whole number from 1 to ${MAX_LIMIT}`)
    .transform(Number)
    .optional()
    .meta({ type: 'integer', minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT }),
  after: z
    .string()
    .regex(CURSOR, 'must be the next of an earlier answer')
    .transform(cursorOf)
    .optional()
    .meta({ type: 'string', description: 'The `next` of the page before.' }),
})

const hit = summarySchema
  .omit({ text: true })
  .extend({
    snippet: z.string().meta({
      description:
        'At most 200 characters around the best match, as plain text in composed form (NFC); an ellipsis where something was left out.',
    }),
  })
  .meta({ id: 'MemoryHit' })

const hits = z
  .object({
    memories: z.array(hit).meta({ description: 'Best first.' }),
    next: z.string().nullable().meta({ description: '`after` of the next page; null at the end.' }),
  })
  .meta({ id: 'MemoryHits' })

const hitJson = ({ snippet, ...summary }: SearchHit): string =>
  summaryJson(summary, `,"snippet":${JSON.stringify(snippet)}`)

/** When it is the client's turn. Throws `overloaded`, and what the identity is refused for. */
export async function searchInTurn(
  { store, searches }: Pick<Home, 'store' | 'searches'>,
  client: string,
  identity: Identity,
  query: SearchQuery,
) {
  const found = await searches.run({ client }, () => store.searchMemories(identity, query))
  if (found.outcome !== 'hits') throw refusal(found)
  return found
}

export const searchMemories = endpoint({
  operationId: 'searchMemories',
  method: 'GET',
  path: '/api/agents/me/memories/search',
  docs: {
    tag,
    summary: 'Find memories by words',
    description:
      'Every word of `q` must be in the key, the text or the metadata, as a word or as a part of one; case does not matter, nor do the accents of Latin letters. Whole words come before parts, matches in the key before others, and then the better by BM25. One request looks at 16 MiB of memories, ordered by key, and ranks what it finds there. A page may therefore be short, or empty, although more follow: while `next` is not null, send it as `after` to look on.',
  },
  guards: forAgents('reads'),
  query,
  answers: {
    200: {
      description: 'What was found.',
      schema: hits,
      example: {
        memories: [{ ...summaryExample, snippet: 'Step 3 of 7: copy the tables.' }],
        next: null,
      },
    },
  },
  errors: [...READING, 'overloaded'],
  async handle({ call, identity, query }, home: Home) {
    const { q, prefix = '', limit = DEFAULT_LIMIT, after } = query
    const wanted = { q, prefix, limit, after }
    const found = await searchInTurn(home, clientOf(call, home), identity, wanted)
    const next = found.next ? `"${cursorText(found.next)}"` : 'null'
    return answer(call, 200, `{"memories":[${found.hits.map(hitJson).join(',')}],"next":${next}}`)
  },
})
