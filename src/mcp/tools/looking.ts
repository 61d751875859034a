/** The tools that list and search, with bounded pages. */
import { z } from 'zod'
import type { summarySchema } from '../../home/memories/answers.ts'
import {
  cursors,
  type deletedMemory,
  deletedPageOf,
  keyPrefix,
  pageOf,
} from '../../home/memories/list.ts'
import {
  around,
  besideView,
  CURSOR,
  cursorOf,
  cursorText,
  question,
  searchInTurn,
} from '../../home/memories/search.ts'
import { parseExactly } from '../../json/exactly.ts'
import { boundedInteger } from '../../pipeline/schemas.ts'
import type { Author } from '../../store/port/identity.ts'
import type { SearchHit } from '../../store/port/search.ts'
import { iso } from '../../time.ts'
import {
  authorText,
  besideLines,
  briefMarks,
  headline,
  linesOf,
  missingText,
  PAGE,
  reading,
  type Tool,
  type ToolResult,
} from './tool.ts'

/** Bytes of a list as JSON. The metadata of one memory can take 24 KiB with escapes. */
const PAGE_BYTES = 32_768

const atMost = (maximum: number) => boundedInteger({ minimum: 1, maximum })

const prefix = keyPrefix.default('').meta({ description: 'Only keys that start with it.' })

const listInput = z
  .strictObject({
    prefix,
    order: z
      .enum(['key', 'changed'], 'must be key or changed')
      .default('key')
      .meta({ description: 'changed: most recently changed first.' }),
    deleted: z
      .boolean('must be true or false')
      .default(false)
      .meta({ description: 'true: instead the deleted memories that can be restored.' }),
    after: z
      .string('must be a string')
      .max(100, 'must have at most 100 characters')
      .optional()
      .meta(PAGE),
    limit: atMost(100).default(50),
  })
  .refine(({ deleted, order }) => !deleted || order === 'key', {
    path: ['deleted'],
    error: 'lists keys in order: leave out order',
  })
  .refine(({ order, after }) => after === undefined || cursors[order].test(after), {
    path: ['after'],
    error: 'must be the next of a page in the same order',
  })

/** A page of memories, parsed. */
export interface Listed<Each = z.output<typeof summarySchema>> {
  readonly memories: readonly Each[]
  readonly next: string | null
}

type DeletedMemory = z.output<typeof deletedMemory>

const more = (next: string | null): string | undefined =>
  next === null ? undefined : `More: send after "${next}".`

const RESTORE = 'restore_memory with such a version and expectedVersion 0 brings one back.'

const deletedLine = ({ key, lastVersion, bytes, deletedAt, by }: DeletedMemory): string =>
  `${key}: version ${lastVersion}, ${bytes} bytes, deleted ${deletedAt}${authorText(by as Author | null)}`

function deletedResult(json: string): ToolResult {
  const { memories, next }: Listed<DeletedMemory> = JSON.parse(json)
  const restore = memories.length > 0 ? RESTORE : undefined
  const lines = memories.map(deletedLine)
  const none = 'No deleted memory can be restored.'
  return { text: linesOf(lines, none, restore, more(next)), json: () => json }
}

export const listMemories: Tool<typeof listInput> = {
  ...reading,
  name: 'list_memories',
  title: 'List memories',
  description: 'Lists keys with sizes, versions and metadata, without texts.',
  input: listInput,
  async run({ deleted, ...sent }, { home, identity }) {
    if (deleted) return deletedResult(await deletedPageOf(home, identity, sent))
    const page = { ...sent, whole: false, maxBytes: PAGE_BYTES }
    const { json } = await pageOf(home, identity, page)
    const { memories, next } = parseExactly(json) as Listed
    const lines = memories.map(
      ({ key, version, bytes, updatedAt, metadata, protected: isProtected }) =>
        `${key}: version ${version}, ${bytes} bytes, ${updatedAt}${briefMarks(JSON.stringify(metadata), isProtected)}`,
    )
    return { text: linesOf(lines, 'There are no memories.', more(next)), json: () => json }
  },
}

const searchInput = z.strictObject({
  q: question.meta({
    description: 'A question or words; what is in "double quotes" must occur exactly.',
  }),
  prefix,
  around,
  limit: atMost(25).default(10),
  after: z
    .string('must be a string')
    .regex(CURSOR, 'must be the next of an earlier answer')
    .optional()
    .meta(PAGE),
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
  const marks = briefMarks(hit.metadata, hit.protected)
  const lines = [`${headline(hit)}${marks}${why}${part}:`, text ?? snippet, ...besideLines(hit), '']
  return lines.join('\n')
}

export const searchMemories: Tool<typeof searchInput> = {
  ...reading,
  name: 'search_memories',
  title: 'Search memories',
  description:
    'Finds memories that answer a question or contain some words, best first: short ones whole, others in part.',
  input: searchInput,
  async run({ after, ...sent }, { home, client, identity }) {
    const query = { ...sent, after: after === undefined ? undefined : cursorOf(after) }
    const found = await searchInTurn(home, client, identity, query)
    const memories = found.hits.map(hitOf)
    const next = found.next ? cursorText(found.next) : null
    return {
      text: linesOf(found.hits.map(hitText), NOTHING_FOUND, missingText(found.missing), more(next)),
      json: () => JSON.stringify({ memories, next, missing: found.missing }),
    }
  },
}
