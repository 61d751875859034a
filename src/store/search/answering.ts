/**
 * Answers searches in their thread, interleaved: each with a current index, its ranking, and a page
 * of the results.
 */
import { parentPort } from 'node:worker_threads'
import { distance } from 'fastest-levenshtein'
import { nextTurn as turn } from '../../turns.ts'
import { StoreUnavailable } from '../port/errors.ts'
import type { Identity } from '../port/identity.ts'
import type { Memory } from '../port/memories.ts'
import type {
  Neighbour,
  SearchAnswer,
  SearchCursor,
  SearchHit,
  SearchQuery,
} from '../port/search.ts'
import { learnMonths } from './days.ts'
import { type Doc, HomeIndex } from './home-index.ts'
import { Indexes, type SearchSource } from './indexes.ts'
import { type Ranking, rank } from './rank.ts'
import { fused, type Similar, similarTo } from './similar.ts'
import { beginningOf, snippetOf } from './snippet.ts'
import { spellingOf } from './spelling.ts'
import { tokensOf } from './tokens.ts'
import type { Turn } from './vocabulary.ts'

/** Null ends the thread. */
export interface SearchMessage {
  readonly id: number
  readonly search?: { readonly identity: Identity; readonly query: SearchQuery }
  /** The agent whose indexes are to be dropped. */
  readonly forget?: string
}

export interface SearchReply {
  readonly id: number
  readonly answer?: SearchAnswer | undefined
  readonly error?: unknown
  /**
   * The storage did not answer in time. Error classes do not survive the message, so this is a
   * member.
   */
  readonly unavailable?: boolean
}

/** Code points; shorter texts are returned whole. */
const SHORT_TEXT = 400

/** A result, with the terms by which it was found. */
interface Placed {
  readonly key: string
  readonly terms: readonly string[]
  readonly similarity: number | undefined
  /** Keys right before and after it, if they are asked for. */
  readonly beside: Readonly<Record<'before' | 'after', readonly string[]>> | undefined
}

/**
 * After the last result that was shown, wherever it is now. If it was deleted, the next one takes
 * its place.
 */
function placeAfter(docs: readonly Doc[], { shown, last }: SearchCursor): number {
  const at = docs.findIndex(({ key }) => key === last)
  return at < 0 ? Math.max(0, shown - 1) : at + 1
}

const NO_WORDS: Ranking = { docs: [], termsIn: () => [], missing: [] }
const NO_VECTOR: Similar = { outcome: 'compared', docs: [], similarities: new Map() }

const orders = {
  size: (a: Doc, b: Doc) => b.bytes - a.bytes || (a.key < b.key ? -1 : 1),
  oldest: (a: Doc, b: Doc) => a.updatedAt - b.updatedAt || (a.key < b.key ? -1 : 1),
} as const

const NEAR = { words: 4, least: 3, most: 60, terms: 4_096 }

/** The most similar word of the home for each of the first words, unless none is similar. */
async function nearWords(index: HomeIndex, q: string, turn: Turn): Promise<readonly string[]> {
  const words = tokensOf(q)
    .map(spellingOf)
    .filter(({ length }) => length >= NEAR.least && length <= NEAR.most)
  const terms = await index.terms(turn)
  const near = new Set<string>()
  for (const word of words.slice(0, NEAR.words)) {
    let best = { term: '', apart: Math.ceil(word.length / 2) }
    for (const [at, term] of terms.sorted.entries()) {
      if (at % NEAR.terms === NEAR.terms - 1) await turn()
      if (Math.abs(term.length - word.length) >= best.apart) continue
      const apart = distance(term, word)
      if (apart < best.apart) best = { term, apart }
    }
    // The last spelling is one that occurs.
    const written = terms.spellingsOf(best.term).at(-1) ?? ''
    if (written !== '' && best.apart > 0) near.add(written)
  }
  return [...near]
}

async function pageOf(index: HomeIndex, query: SearchQuery, turn: Turn) {
  const { q, order, meant, prefix, pinned = false, all = false, around = 0, after, limit } = query
  const isWithin = (doc: Doc) => doc.key.startsWith(prefix)
  const isWanted = (doc: Doc) => isWithin(doc) && (doc.pinned || !pinned)
  const keysOf = (docs: readonly Doc[]) => docs.filter(isWithin).map(({ key }) => key)
  const besideOf = (doc: Doc) => {
    const { before, after } = index.sequences.beside(doc, around)
    return { before: keysOf(before), after: keysOf(after) }
  }
  const similar = meant ? await similarTo(index, meant, isWanted, turn) : NO_VECTOR
  if (similar.outcome !== 'compared') return similar
  const words = q === '' ? NO_WORDS : await rank(index, { q, all, isWanted }, turn)
  const ranked = meant ? fused(words.docs, similar.docs) : words.docs
  const docs = order ? [...index.docs.values()].filter(isWanted).sort(orders[order]) : ranked
  const from = after ? placeAfter(docs, after) : 0
  const page = docs.slice(from, from + limit)
  const shown = from + page.length
  const last = page.at(-1)?.key
  return {
    outcome: 'page',
    missing: words.missing,
    near: query.suggest && docs.length === 0 ? await nearWords(index, q, turn) : undefined,
    placed: page.map((doc): Placed => {
      const beside = around > 0 ? besideOf(doc) : undefined
      const similarity = similar.similarities.get(doc.id)
      return { key: doc.key, terms: words.termsIn(doc.id), similarity, beside }
    }),
    next: shown < docs.length && last !== undefined ? { shown, last } : undefined,
  } as const
}

const isShort = (text: string): boolean =>
  text.length <= SHORT_TEXT || (text.length <= 2 * SHORT_TEXT && [...text].length <= SHORT_TEXT)

/** Reads each memory once, in its current version. */
function reading(source: SearchSource, identity: Identity) {
  const reads = new Map<string, Promise<Memory | undefined>>()
  const done = { looked: 0 }
  async function find(key: string): Promise<Memory | undefined> {
    const found = await source.readMemory(identity, key)
    if (found.outcome !== 'found') return undefined
    done.looked += Buffer.byteLength(found.memory.text) + Buffer.byteLength(found.memory.metadata)
    return found.memory
  }
  function read(key: string): Promise<Memory | undefined> {
    const found = reads.get(key) ?? find(key)
    reads.set(key, found)
    return found
  }
  return { read, done }
}

type Read = ReturnType<typeof reading>['read']

async function neighboursOf(read: Read, keys: readonly string[]): Promise<readonly Neighbour[]> {
  const memories = (await Promise.all(keys.map(read))).filter((memory) => memory !== undefined)
  return memories.map(({ key, version, updatedAt, text }) => ({
    ...{ key, version, updatedAt },
    ...(isShort(text) ? { text } : { snippet: beginningOf(text) }),
  }))
}

async function show(
  read: Read,
  { key, terms, similarity, beside }: Placed,
): Promise<SearchHit | undefined> {
  const found = await read(key)
  if (!found) return undefined
  const { text, ...memory } = found
  return {
    ...memory,
    bytes: Buffer.byteLength(text),
    matched: terms,
    ...(similarity !== undefined && { similarity }),
    ...(isShort(text) ? { text } : { snippet: snippetOf(found, terms) }),
    ...(beside && {
      before: await neighboursOf(read, beside.before),
      after: await neighboursOf(read, beside.after),
    }),
  }
}

export const searchWith =
  (source: SearchSource, indexes: Indexes, turn: Turn) =>
  async (identity: Identity, query: SearchQuery): Promise<SearchAnswer> => {
    const used = await indexes.use(identity, query.meant !== undefined, (index) =>
      pageOf(index, query, turn),
    )
    if (used.outcome !== 'used') return used
    const page = used.result
    if (page.outcome !== 'page') return page
    const { placed, next, missing, near } = page
    const { read, done } = reading(source, identity)
    await Promise.all(placed.map(({ key }) => read(key)))
    const hits: SearchHit[] = []
    for (const each of placed) {
      const hit = await show(read, each)
      if (hit) hits.push(hit)
      await turn()
    }
    const all = used.looked + done.looked
    return { outcome: 'hits', hits, next, looked: all, missing, ...(near && { near }) }
  }

interface Answering {
  readonly source: SearchSource
  /** Bytes for the indexes of all homes. */
  readonly cacheBytes: number
  /** Translates errors of the source to the port's. */
  readonly translate: (error: unknown) => unknown
  readonly close: () => Promise<void> | void
}

/** Texts and a question that make V8 compile what the first search in any script needs. */
const WARMING = {
  text: 'An exämple, приклад, مثال, 例え, ☀️: {"n": 1}',
  q: '"An exämple" приклде 例え',
  memories: 300,
  repeats: 50,
}

async function warmUp(): Promise<void> {
  await learnMonths(turn)
  const index = new HomeIndex()
  for (let n = 0; n < WARMING.memories; n++) {
    const text = `${WARMING.text} ${n} `.repeat(n % WARMING.repeats)
    index.put({ key: `${n}`, text, metadata: '{}', version: 1, createdAt: 0, updatedAt: 0 })
    await turn()
  }
  await rank(index, { q: WARMING.q, all: false, isWanted: () => true }, turn)
}

/** In a thread: answers its messages until the last. */
export function answerSearches({ source, cacheBytes, translate, close }: Answering): void {
  const port = parentPort
  if (!port) throw new Error('this module runs as a thread')
  const indexes = new Indexes(source, cacheBytes, turn)
  const search = searchWith(source, indexes, turn)

  async function answer(message: SearchMessage): Promise<SearchAnswer | undefined> {
    if (message.search) return search(message.search.identity, message.search.query)
    if (message.forget !== undefined) await indexes.forget(message.forget)
    return undefined
  }

  const end = async (): Promise<void> => {
    indexes.close()
    await close()
    port.close()
  }

  void warmUp()
  port.on('message', (message: SearchMessage | null) => {
    if (!message) return void end()
    const say = (reply: Omit<SearchReply, 'id'>) => port.postMessage({ id: message.id, ...reply })
    answer(message).then(
      (found) => say({ answer: found }),
      (error: unknown) => say({ error, unavailable: translate(error) instanceof StoreUnavailable }),
    )
  })
}
