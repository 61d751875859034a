/** The tools that list and search, with bounded pages. */
import { z } from 'zod'
import type { summarySchema } from '../../home/memories/answers.ts'
import { cursors, keyPrefix, pageOf } from '../../home/memories/list.ts'
import {
  around,
  besideView,
  CURSOR,
  cursorOf,
  cursorText,
  question,
  searchInTurn,
} from '../../home/memories/search.ts'
import { boundedInteger } from '../../pipeline/schemas.ts'
import type { SearchHit } from '../../store/port/search.ts'
import { iso } from '../../time.ts'
import { besideLines, headline, linesOf, missingText, reading, type Tool } from './tool.ts'

/** Bytes of a list as JSON. The metadata of one memory can take 24 KiB with escapes. */
const PAGE_BYTES = 32_768

const atMost = (maximum: number) => boundedInteger({ minimum: 1, maximum })

const prefix = keyPrefix.default('').meta({ description: 'Only keys that start with this prefix.' })

const listInput = z
  .strictObject({
    prefix,
    order: z
      .enum(['key', 'changed'])
      .default('key')
      .meta({ description: 'changed: most recently changed first.' }),
    after: z
      .string()
      .max(100)
      .optional()
      .meta({ description: 'The value of next on the previous page.' }),
    limit: atMost(100).default(50),
  })
  .refine(({ order, after }) => after === undefined || cursors[order].test(after), {
    path: ['after'],
    error: 'must be the next of a page in the same order',
  })

/** A page of memories, parsed. */
export interface Listed {
  readonly memories: readonly z.output<typeof summarySchema>[]
  readonly next: string | null
}

const more = (next: string | null): string | undefined =>
  next === null ? undefined : `More: send after "${next}".`

export const listMemories: Tool<typeof listInput> = {
  ...reading,
  name: 'list_memories',
  title: 'List memories',
  description:
    'Lists keys with sizes, versions and metadata, without texts, page by page: while next is not null, send it as after.',
  input: listInput,
  async run(sent, { home, identity }) {
    const page = { ...sent, whole: false, maxBytes: PAGE_BYTES }
    const { json } = await pageOf(home, identity, page)
    const { memories, next }: Listed = JSON.parse(json)
    const lines = memories.map(
      ({ key, version, bytes, updatedAt }) =>
        `${key}: version ${version}, ${bytes} bytes, ${updatedAt}`,
    )
    return { text: linesOf(lines, 'There are no memories.', more(next)), json }
  },
}

const searchInput = z.strictObject({
  q: question.meta({
    description: 'A question or some words; a phrase in "double quotes" must occur exactly.',
  }),
  prefix,
  around,
  limit: atMost(25).default(10),
  after: z
    .string()
    .regex(CURSOR, 'must be the next of an earlier answer')
    .optional()
    .meta({ description: 'The value of next on the previous page.' }),
})

const hitOf = ({ key, version, updatedAt, matched, text, snippet, ...beside }: SearchHit) => ({
  key,
  version,
  updatedAt: iso(updatedAt),
  matched,
  text,
  snippet,
  ...besideView(beside),
})

const NOTHING_FOUND = 'Nothing matches. Try other words, or call list_memories.'

const hitText = (hit: SearchHit): string => {
  const { matched, text, snippet = '' } = hit
  const why = matched.length > 0 ? `, matched ${matched.join(', ')}` : ''
  const part = text === undefined ? ', in part' : ''
  const lines = [`${headline(hit)}${why}${part}:`, text ?? snippet, ...besideLines(hit), '']
  return lines.join('\n')
}

export const searchMemories: Tool<typeof searchInput> = {
  ...reading,
  name: 'search_memories',
  title: 'Search memories',
  description:
    'Finds memories that answer a question or contain some words: best first, short ones whole, others with a snippet. missing has the words that no memory has: ask again with others.',
  input: searchInput,
  async run({ after, ...sent }, { home, client, identity }) {
    const query = { ...sent, after: after === undefined ? undefined : cursorOf(after) }
    const found = await searchInTurn(home, client, identity, query)
    const memories = found.hits.map(hitOf)
    const next = found.next ? cursorText(found.next) : null
    return {
      text: linesOf(found.hits.map(hitText), NOTHING_FOUND, missingText(found.missing), more(next)),
      json: JSON.stringify({ memories, next, missing: found.missing }),
    }
  },
}
