/** The tools that look: bounded answers, so that none fills a model's context. */
import { type Tool, tool } from 'ai'
import type { AgentHome } from '../client.ts'
import type { Context, Memory, MemoryHit, MemorySummary } from '../wire.ts'
import { around, bounded, input, key, prefix, upTo } from './input.ts'
import { told } from './refusal.ts'

const LIST = { most: 100, usual: 50 }

const SEARCH = { most: 25, usual: 10 }

const CONTEXT_BYTES = 4_000

/** The first of them, and whether there are more. */
async function firstOf<T>(items: AsyncIterable<T>, most: number) {
  const found: T[] = []
  for await (const item of items) {
    if (found.length === most) return { found, isMore: true }
    found.push(item)
  }
  return { found, isMore: false }
}

export interface ContextInput {
  readonly about?: string
  readonly around?: number
  readonly bytes?: number
}

/** What to call next is said by the home in terms of HTTP, and left out. */
export type ContextShown = Omit<Context, 'next'>

export interface ReadInput {
  readonly key: string
  readonly version?: number
}

export interface MemoryRead {
  readonly memory: Omit<Memory, 'id' | 'createdAt'> | null
}

export interface ListInput {
  readonly prefix?: string
  readonly after?: string
  readonly limit?: number
}

export interface Listed {
  readonly memories: readonly Pick<MemorySummary, 'key' | 'bytes' | 'version' | 'updatedAt'>[]
  readonly next: string | null
}

export interface SearchInput extends Omit<ListInput, 'after'> {
  readonly q: string
  readonly around?: number
}

export interface Found {
  readonly memories: readonly Pick<
    MemoryHit,
    'key' | 'version' | 'updatedAt' | 'matched' | 'text' | 'snippet' | 'before' | 'after'
  >[]
  /** Words of the question that no memory has. */
  readonly missing: readonly string[]
  readonly more: boolean
}

const wholeOf = ({ key, text, metadata, version, updatedAt }: Memory) => ({
  key,
  text,
  metadata,
  version,
  updatedAt,
})

const lineOf = ({ key, bytes, version, updatedAt }: MemorySummary) => ({
  key,
  bytes,
  version,
  updatedAt,
})

const hitOf = (hit: MemoryHit) => {
  const { key, version, updatedAt, matched, text, snippet = '', before, after } = hit
  return {
    ...{ key, version, updatedAt, matched },
    ...(text === undefined ? { snippet } : { text }),
    ...(before && { before }),
    ...(after && { after }),
  }
}

export const contextTool = (home: AgentHome): Tool<ContextInput, ContextShown> =>
  tool({
    description:
      'Call this first, and say in about what you are about to do. Returns who you are, your remaining limits, your pinned memories whole, what you know about the task, and the newest other memories: short ones whole, of others the first line. leftOut counts what did not fit.',
    inputSchema: input<ContextInput>(
      {
        about: {
          type: 'string',
          description:
            'What you are about to do, in your own words or the user’s: memories about it are included.',
        },
        around,
        bytes: {
          type: 'integer',
          minimum: 2_000,
          maximum: 65_536,
          description: `The maximum size of the answer: ${CONTEXT_BYTES} bytes by default.`,
        },
      },
      [],
    ),
    async execute(
      { about, around, bytes = CONTEXT_BYTES },
      { abortSignal: signal },
    ): Promise<ContextShown> {
      const more = { ...(about && { about }), ...(around !== undefined && { around }) }
      const asked = home.context({ bytes, signal, ...more })
      const { next: _next, ...context } = await told({ tool: 'get_context' }, asked)
      return context
    },
  })

export const readTool = (home: AgentHome): Tool<ReadInput, MemoryRead> =>
  tool({
    description:
      'Returns one whole memory, or null if there is none. Send its version as expectedVersion when you change it.',
    inputSchema: input<ReadInput>(
      {
        key,
        version: { type: 'integer', minimum: 1, description: 'An earlier version to read.' },
      },
      ['key'],
    ),
    async execute({ key, version }, { abortSignal: signal }): Promise<MemoryRead> {
      const options = { signal, ...(version !== undefined && { version }) }
      const memory = await told({ tool: 'read_memory', key }, home.read(key, options))
      return { memory: memory ? wholeOf(memory) : null }
    },
  })

export const listTool = (home: AgentHome): Tool<ListInput, Listed> =>
  tool({
    description:
      'Lists keys with sizes and versions, without texts, ordered by key. While next is not null, send it as after.',
    inputSchema: input<ListInput>(
      {
        prefix,
        after: { type: 'string', description: 'The value of next in the previous answer.' },
        limit: upTo(LIST.most, LIST.usual),
      },
      [],
    ),
    async execute({ prefix, after, limit }, { abortSignal: signal }): Promise<Listed> {
      const listed = home.list({ signal, ...(prefix && { prefix }), ...(after && { after }) })
      const first = firstOf(listed, bounded(limit, LIST.most, LIST.usual))
      const { found, isMore } = await told({ tool: 'list_memories' }, first)
      return { memories: found.map(lineOf), next: (isMore && found.at(-1)?.key) || null }
    },
  })

export const searchTool = (home: AgentHome): Tool<SearchInput, Found> =>
  tool({
    description:
      'Finds memories that answer a question or contain some words: best first, short ones whole, others with a snippet. missing has the words that no memory has: ask again with others.',
    inputSchema: input<SearchInput>(
      {
        q: {
          type: 'string',
          description: 'A question or some words; a phrase in "double quotes" must occur exactly.',
        },
        prefix,
        around,
        limit: upTo(SEARCH.most, SEARCH.usual),
      },
      ['q'],
    ),
    async execute({ q, prefix, around, limit }, { abortSignal: signal }): Promise<Found> {
      const more = { ...(prefix && { prefix }), ...(around !== undefined && { around }) }
      const hits = home.search(q, { signal, ...more })
      const first = firstOf(hits, bounded(limit, SEARCH.most, SEARCH.usual))
      const { found, isMore } = await told({ tool: 'search_memories' }, first)
      return { memories: found.map(hitOf), missing: hits.missing, more: isMore }
    },
  })
