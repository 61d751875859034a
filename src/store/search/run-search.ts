/** One search: a current index, its ranking, and a page of the results. */
import type { Identity } from '../port/home.ts'
import type { SearchAnswer, SearchCursor, SearchHit, SearchQuery } from '../port/keeping/search.ts'
import type { Doc, HomeIndex } from './home-index.ts'
import type { Indexes, SearchSource } from './indexes.ts'
import { rank } from './rank.ts'
import { snippetOf } from './snippet.ts'
import type { Turn } from './vocabulary.ts'

/** Code points; shorter texts are returned whole. */
const SHORT_TEXT = 400

/** A result, with the terms by which it was found. */
interface Placed {
  readonly key: string
  readonly terms: readonly string[]
}

interface Page {
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

async function pageOf(index: HomeIndex, query: SearchQuery, turn: Turn): Promise<Page> {
  const { q, prefix, pinned = false, all = false, after, limit } = query
  const isWanted = (doc: Doc) => doc.key.startsWith(prefix) && (doc.pinned || !pinned)
  const { docs, termsIn } = await rank(index, { q, all, isWanted }, turn)
  const from = after ? placeAfter(docs, after) : 0
  const page = docs.slice(from, from + limit)
  const shown = from + page.length
  const last = page.at(-1)?.key
  return {
    placed: page.map(({ id, key }) => ({ key, terms: termsIn(id) })),
    next: shown < docs.length && last !== undefined ? { shown, last } : undefined,
  }
}

const isShort = (text: string): boolean =>
  text.length <= SHORT_TEXT || (text.length <= 2 * SHORT_TEXT && [...text].length <= SHORT_TEXT)

/** In its current version. */
async function show(
  source: SearchSource,
  identity: Identity,
  { key, terms }: Placed,
): Promise<SearchHit | undefined> {
  const found = await source.readMemory(identity, key)
  if (found.outcome !== 'found') return undefined
  const { text, ...memory } = found.memory
  return {
    ...memory,
    bytes: Buffer.byteLength(text),
    matched: terms,
    ...(isShort(text) ? { text } : { snippet: snippetOf(found.memory, terms) }),
  }
}

const bytesOf = ({ bytes, metadata }: SearchHit): number => bytes + Buffer.byteLength(metadata)

export const searchWith =
  (source: SearchSource, indexes: Indexes, turn: Turn) =>
  async (identity: Identity, query: SearchQuery): Promise<SearchAnswer> => {
    const used = await indexes.use(identity, (index) => pageOf(index, query, turn))
    if (used.outcome !== 'used') return used
    const { placed, next } = used.result
    const shown = await Promise.all(placed.map((each) => show(source, identity, each)))
    const hits = shown.filter((hit) => hit !== undefined)
    const looked = hits.reduce((sum, hit) => sum + bytesOf(hit), used.looked)
    return { outcome: 'hits', hits, next, looked }
  }
