/** One search: a current index, its ranking, and a page of the results. */
import type { Identity } from '../port/home.ts'
import type { SearchAnswer, SearchCursor, SearchHit, SearchQuery } from '../port/keeping/search.ts'
import type { Doc, HomeIndex } from './home-index.ts'
import type { Indexes, SearchSource } from './indexes.ts'
import { type Ranking, rank } from './rank.ts'
import { fused, type Similar, similarTo } from './similar.ts'
import { snippetOf } from './snippet.ts'
import type { Turn } from './vocabulary.ts'

/** Code points; shorter texts are returned whole. */
const SHORT_TEXT = 400

/** A result, with the terms by which it was found. */
interface Placed {
  readonly key: string
  readonly terms: readonly string[]
  readonly similarity: number | undefined
}

interface Page {
  readonly outcome: 'page'
  readonly placed: readonly Placed[]
  readonly next: SearchCursor | undefined
}

/**
 * After the last result that was shown, wherever it is now. If it was deleted, the next one takes
 * its place.
 */
function placeAfter(docs: readonly Doc[], { shown, last }: SearchCursor): number {
  const at = docs.findIndex(({ key }) => key === last)
  return at < 0 ? Math.max(0, shown - 1) : at + 1
}

const NO_WORDS: Ranking = { docs: [], termsIn: () => [] }
const NO_VECTOR: Similar = { outcome: 'compared', docs: [], similarities: new Map() }

async function pageOf(index: HomeIndex, query: SearchQuery, turn: Turn) {
  const { q, meant, prefix, pinned = false, all = false, after, limit } = query
  const isWanted = (doc: Doc) => doc.key.startsWith(prefix) && (doc.pinned || !pinned)
  const similar = meant ? await similarTo(index, meant, isWanted, turn) : NO_VECTOR
  if (similar.outcome !== 'compared') return similar
  const words = q === '' ? NO_WORDS : await rank(index, { q, all, isWanted }, turn)
  const docs = meant ? fused(words.docs, similar.docs) : words.docs
  const from = after ? placeAfter(docs, after) : 0
  const page = docs.slice(from, from + limit)
  const shown = from + page.length
  const last = page.at(-1)?.key
  return {
    outcome: 'page',
    placed: page.map(({ id, key }) => ({
      key,
      terms: words.termsIn(id),
      similarity: similar.similarities.get(id),
    })),
    next: shown < docs.length && last !== undefined ? { shown, last } : undefined,
  } satisfies Page
}

const isShort = (text: string): boolean =>
  text.length <= SHORT_TEXT || (text.length <= 2 * SHORT_TEXT && [...text].length <= SHORT_TEXT)

/** In its current version. */
async function show(
  source: SearchSource,
  identity: Identity,
  { key, terms, similarity }: Placed,
): Promise<SearchHit | undefined> {
  const found = await source.readMemory(identity, key)
  if (found.outcome !== 'found') return undefined
  const { text, ...memory } = found.memory
  return {
    ...memory,
    bytes: Buffer.byteLength(text),
    matched: terms,
    ...(similarity !== undefined && { similarity }),
    ...(isShort(text) ? { text } : { snippet: snippetOf(found.memory, terms) }),
  }
}

const bytesOf = ({ bytes, metadata }: SearchHit): number => bytes + Buffer.byteLength(metadata)

export const searchWith =
  (source: SearchSource, indexes: Indexes, turn: Turn) =>
  async (identity: Identity, query: SearchQuery): Promise<SearchAnswer> => {
    const used = await indexes.use(identity, query.meant !== undefined, (index) =>
      pageOf(index, query, turn),
    )
    if (used.outcome !== 'used') return used
    const page = used.result
    if (page.outcome !== 'page') return page
    const { placed, next } = page
    const shown = await Promise.all(placed.map((each) => show(source, identity, each)))
    const hits = shown.filter((hit) => hit !== undefined)
    const looked = hits.reduce((sum, hit) => sum + bytesOf(hit), used.looked)
    return { outcome: 'hits', hits, next, looked }
  }
