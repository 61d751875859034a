/** One search: looks at memories in slices, ranks what matches, and shows a page of it. */
import { isPinned } from '../change.ts'
import { StoreUnavailable } from '../port/errors.ts'
import type { Refused } from '../port/home.ts'
import type { MemoriesQuery, MemorySummary, ReadAnswer } from '../port/keeping/memories.ts'
import type { SearchAnswer, SearchCursor, SearchHit, SearchQuery } from '../port/keeping/search.ts'
import { type Sought, soughtOf } from './query.ts'
import { createRanking } from './rank.ts'
import { snippetOf } from './snippet.ts'

/** Of a memory, what a look needs. */
export type LookedAt = Pick<MemorySummary, 'key' | 'bytes' | 'metadata' | 'text'>

export type SliceQuery = MemoriesQuery & { readonly order: 'key' }

/** Whole memories in the order of their keys, as a list of the port gives them. */
export type Slice =
  | {
      readonly outcome: 'memories'
      readonly memories: readonly LookedAt[]
      /** `after` of the next; undefined at the end. */
      readonly next: string | undefined
    }
  | Refused

/** Of one identity's memories; whoever gives them gives others their turn in between. */
export interface Sources {
  readonly list: (query: SliceQuery) => Promise<Slice>
  readonly read: (key: string) => Promise<ReadAnswer>
  /** Milliseconds, monotonic. */
  readonly stopwatch: () => number
}

/** UTF-8 bytes of texts and metadata that one search looks at. */
const LOOK_BYTES = 16 * 1_024 * 1_024

/** What a memory takes beside its text and metadata, however short they are. */
const MEMORY_BYTES = 256

/** Which memories are looked at. */
type Among = Required<Pick<SearchQuery, 'prefix' | 'pinned'>>

/** Read, folded and matched without a pause: some milliseconds. */
const SLICE: Omit<SliceQuery, keyof Among | 'after'> = {
  order: 'key',
  limit: 512,
  whole: true,
  maxBytes: 128 * 1_024,
}

/** How long a look goes on: then it ends where it is, and the next goes on there. */
const LOOK_MS = 1_000

/** How long a look that is looked again may take: it ends where it ended. */
const DEADLINE_MS = 2_000

/** What a look at a part of the memories found. */
interface Look {
  readonly outcome: 'looked'
  /** Keys, best first. */
  readonly ranked: readonly string[]
  /** The key up to which it looked; undefined at the end. */
  readonly end: string | undefined
  readonly last: string
}

const weigh = ({ bytes, metadata }: LookedAt): number =>
  bytes + Buffer.byteLength(metadata) + MEMORY_BYTES

/** What of a slice belongs to a look that is looked again: it ends where it ended. */
const upTo = (until: string, memories: readonly LookedAt[]): readonly LookedAt[] =>
  until === '' ? memories : memories.filter(({ key }) => key <= until)

async function look(
  sources: Sources,
  sought: Sought,
  among: Among,
  { looked, until }: SearchCursor,
): Promise<Look | Refused> {
  const startedAt = sources.stopwatch()
  const ranking = createRanking(sought)
  let last = looked
  for (let size = 0; ; ) {
    const slice = await sources.list({ ...SLICE, ...among, after: last === '' ? undefined : last })
    if (slice.outcome !== 'memories') return slice
    const memories = upTo(until, slice.memories)
    for (const memory of memories) {
      ranking.look(memory)
      size += weigh(memory)
    }
    last = memories.at(-1)?.key ?? last
    const tookMs = sources.stopwatch() - startedAt
    if (tookMs > DEADLINE_MS && until !== '') throw new StoreUnavailable('the search took too long')
    const over = size >= LOOK_BYTES || tookMs > LOOK_MS
    const isThere = until === '' ? over : last >= until || memories.length < slice.memories.length
    if (slice.next === undefined || isThere) {
      const end = slice.next === undefined && memories.length === slice.memories.length
      return { outcome: 'looked', ranked: ranking.ranked(), last, end: end ? undefined : last }
    }
  }
}

/** As it is now: what was changed since may match no longer. */
async function show(
  sources: Sources,
  sought: Sought,
  pinned: boolean,
  key: string,
): Promise<SearchHit | undefined> {
  const found = await sources.read(key)
  if (found.outcome !== 'found' || !createRanking(sought).look(found.memory)) return undefined
  if (pinned && !isPinned(found.memory.metadata)) return undefined
  const { text, ...memory } = found.memory
  return { ...memory, bytes: Buffer.byteLength(text), snippet: snippetOf(found.memory, sought) }
}

/** After what was shown, wherever it stands by now. Where it was deleted, the next has its place. */
function placeAfter({ ranked }: Look, { shown, last }: SearchCursor): number {
  const at = ranked.indexOf(last)
  return at < 0 ? Math.max(0, shown - 1) : at + 1
}

function nextOf(
  { ranked, end, last: until }: Look,
  looked: string,
  shown: number,
): SearchCursor | undefined {
  if (shown < ranked.length) return { looked, until, shown, last: ranked[shown - 1] ?? '' }
  return end === undefined ? undefined : { ...FROM_THE_START, looked: end }
}

const FROM_THE_START: SearchCursor = { looked: '', until: '', shown: 0, last: '' }

export async function searchThrough(
  sources: Sources,
  { q, prefix, pinned = false, after = FROM_THE_START, limit }: SearchQuery,
): Promise<SearchAnswer> {
  const sought = soughtOf(q)
  const found = await look(sources, sought, { prefix, pinned }, after)
  if (found.outcome !== 'looked') return found
  const from = placeAfter(found, after)
  const page = found.ranked.slice(from, from + limit)
  const shown = await Promise.all(page.map((key) => show(sources, sought, pinned, key)))
  const hits = shown.filter((hit) => hit !== undefined)
  return { outcome: 'hits', hits, next: nextOf(found, after.looked, from + page.length) }
}
