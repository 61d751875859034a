/** One search: looks at memories in slices, ranks what matches, and shows a page of it. */
import { StoreUnavailable } from '../port/errors.ts'
import type { Refused } from '../port/home.ts'
import type { MemoriesAnswer, MemoriesQuery, MemorySummary, ReadAnswer } from '../port/memories.ts'
import type { SearchAnswer, SearchCursor, SearchHit, SearchQuery } from '../port/search.ts'
import { type Sought, soughtOf } from './query.ts'
import { createRanking } from './rank.ts'
import { snippetOf } from './snippet.ts'

/** Of one identity's memories; whoever gives them gives others their turn in between. */
export interface Sources {
  readonly list: (query: MemoriesQuery) => Promise<MemoriesAnswer>
  readonly read: (key: string) => Promise<ReadAnswer>
  /** Milliseconds, monotonic. */
  readonly stopwatch: () => number
}

/** UTF-8 bytes of texts and metadata that one search looks at. */
const LOOK_BYTES = 16 * 1_024 * 1_024

/** What a memory takes beside its text and metadata, however short they are. */
const MEMORY_BYTES = 256

/** Read, folded and matched without a pause: some milliseconds. */
const SLICE: Omit<MemoriesQuery, 'prefix' | 'after'> = {
  order: 'key',
  limit: 512,
  whole: true,
  maxBytes: 128 * 1_024,
}

/** How long a search may take, its wait included. */
export const DEADLINE_MS = 2_000

export const tooLate = (): StoreUnavailable => new StoreUnavailable('the search took too long')

/** What a look at a part of the memories found. */
interface Look {
  readonly outcome: 'looked'
  /** Keys, best first. */
  readonly ranked: readonly string[]
  /** The key up to which it looked; undefined at the end. */
  readonly end: string | undefined
}

const weigh = ({ bytes, metadata }: MemorySummary): number =>
  bytes + Buffer.byteLength(metadata) + MEMORY_BYTES

async function look(
  sources: Sources,
  sought: Sought,
  prefix: string,
  looked: string,
): Promise<Look | Refused> {
  const until = sources.stopwatch() + DEADLINE_MS
  const ranking = createRanking(sought)
  let end: string | undefined = looked
  for (let size = 0; end !== undefined && size < LOOK_BYTES; ) {
    if (sources.stopwatch() > until) throw tooLate()
    const slice = await sources.list({ ...SLICE, prefix, after: end === '' ? undefined : end })
    if (slice.outcome !== 'memories') return slice
    for (const memory of slice.memories) {
      ranking.look(memory)
      size += weigh(memory)
    }
    end = slice.next
  }
  return { outcome: 'looked', ranked: ranking.ranked(), end }
}

/** As it is now: what was changed since may match no longer. */
async function show(sources: Sources, sought: Sought, key: string): Promise<SearchHit | undefined> {
  const found = await sources.read(key)
  if (found.outcome !== 'found' || !createRanking(sought).look(found.memory)) return undefined
  const { text, ...memory } = found.memory
  return { ...memory, bytes: Buffer.byteLength(text), snippet: snippetOf(found.memory, sought) }
}

/** After what was shown, wherever it stands by now. */
function placeAfter({ ranked }: Look, { shown, last }: SearchCursor): number {
  const at = last === '' ? -1 : ranked.indexOf(last)
  return at < 0 ? shown : at + 1
}

function nextOf({ ranked, end }: Look, looked: string, shown: number): SearchCursor | undefined {
  if (shown < ranked.length) return { looked, shown, last: ranked[shown - 1] ?? '' }
  return end === undefined ? undefined : { looked: end, shown: 0, last: '' }
}

export async function searchThrough(
  sources: Sources,
  { q, prefix, after = { looked: '', shown: 0, last: '' }, limit }: SearchQuery,
): Promise<SearchAnswer> {
  const sought = soughtOf(q)
  const found = await look(sources, sought, prefix, after.looked)
  if (found.outcome !== 'looked') return found
  const from = placeAfter(found, after)
  const page = found.ranked.slice(from, from + limit)
  const shown = await Promise.all(page.map((key) => show(sources, sought, key)))
  const hits = shown.filter((hit) => hit !== undefined)
  return { outcome: 'hits', hits, next: nextOf(found, after.looked, from + page.length) }
}
