/** Which memories answer a query, best first: BM25+ over words and their variants. */
import type { Doc, HomeIndex, Posting } from './home-index.ts'
import { STOP_WORDS } from './stop-words.ts'
import { parseQuery, type Query, type QueryWord } from './tokens.ts'
import { holdingWord, misspellingsOf, SAME_MEANING, type Variants, variantsOf } from './variants.ts'

/** BM25+ with its usual names. Chosen by `npm run bench -- find`. */
const K1 = 1
const B = 0.3
const DELTA = 0.5

/** What a word in the key counts, where one in the text counts 1. */
const KEY = 2

/** What two words count that stand together: a part of the rarer. */
const TOGETHER = 0.2
/** Words apart, from one to the next. */
const MOST_APART = 4

/** A word that more of the memories have says nothing, in a home of so many. */
const COMMON = 2 / 3
const TELLING_MEMORIES = 100

/** From this weight on a variant tells how rare the word is. */
const SAME_WORD = 0.8

/** Places that are looked at for a word and for a query. */
const PLACES_PER_TERM = 50_000
const PLACES_PER_QUERY = 200_000

/** Of the best so many are compared by the places of their words. */
const COMPARED = 100

/** Scores that differ by less are the same. */
const EQUAL = 1e-9

/** A word of the query in one memory. */
interface Match {
  /** Of the variant that counts most. */
  weight: number
  term: string
  frequency: number
  /** In one column after the other. */
  readonly places: number[]
}

interface Found {
  readonly word: QueryWord
  readonly variants: Variants
  readonly inverseFrequency: number
  readonly matches: ReadonlyMap<number, Match>
}

interface Ranked {
  readonly doc: Doc
  readonly score: number
}

export interface Ranking {
  /** Best first. */
  readonly docs: readonly Doc[]
  /** The words of the query that a memory has, and as which terms it has them. */
  readonly matchesOf: (
    docId: number,
  ) => readonly { readonly written: string; readonly term: string }[]
}

export interface RankedQuery {
  readonly q: string
  /** Every word must be there, whole or as a part. */
  readonly all: boolean
  /** Which of the memories are wanted. */
  readonly isWanted: (doc: Doc) => boolean
}

/** Lets others have their turn. */
type Turn = () => Promise<void>

const COLUMN_PLACES = { key: 0, text: 1_000_000, metadata: 2_000_000 } as const

function addPosting(
  matches: Map<number, Match>,
  [id, column, place]: Posting,
  term: string,
  weight: number,
): void {
  let match = matches.get(id)
  if (!match) {
    match = { weight, term, frequency: 0, places: [] }
    matches.set(id, match)
  }
  match.frequency += weight * (column === 'key' ? KEY : 1)
  match.places.push(COLUMN_PLACES[column] + place)
  if (weight > match.weight) Object.assign(match, { weight, term })
}

/** In the order of the terms, so that one index ranks as another with the same memories. */
async function matchesIn(index: HomeIndex, variants: Variants, left: number, turn: Turn) {
  const matches = new Map<number, Match>()
  const same = new Set<number>()
  let places = 0
  for (const [term, weight] of [...variants].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const found = index.postings(term, Math.min(PLACES_PER_TERM, left - places))
    for (const posting of found) {
      addPosting(matches, posting, term, weight)
      if (weight >= SAME_WORD) same.add(posting[0])
    }
    places += found.length
    if (places >= left) break
    await turn()
  }
  return { matches, places, having: same.size || matches.size }
}

const weighsAsSame = (matches: ReadonlyMap<number, Match>): boolean =>
  matches.values().some(({ weight }) => weight >= SAME_MEANING)

interface Sought {
  readonly index: HomeIndex
  readonly vocabulary: string
  readonly all: boolean
  readonly turn: Turn
}

async function findWords(
  { index, vocabulary, all, turn }: Sought,
  words: readonly QueryWord[],
): Promise<readonly Found[]> {
  const found: Found[] = []
  let left = PLACES_PER_QUERY
  for (const word of words) {
    let variants = (all ? holdingWord : variantsOf)(index, word.token, vocabulary)
    let its = await matchesIn(index, variants, left, turn)
    if (!all && !weighsAsSame(its.matches)) {
      variants = new Map([...misspellingsOf(word.token, vocabulary), ...variants])
      its = await matchesIn(index, variants, left, turn)
    }
    left -= its.places
    const { matches, having } = its
    const inverseFrequency = Math.log(1 + (index.docs.size - having + 0.5) / (having + 0.5))
    if (matches.size > 0) found.push({ word, variants, inverseFrequency, matches })
  }
  return found
}

const unlessNone = <T>(few: readonly T[], all: readonly T[]): readonly T[] =>
  few.length > 0 ? few : all

/** Without words that say nothing, unless nothing else is found. */
async function findTelling(sought: Sought, words: readonly QueryWord[]): Promise<readonly Found[]> {
  const telling = words.filter(({ token }) => !STOP_WORDS.has(token))
  const found = await findWords(sought, telling)
  if (found.length === 0)
    return findWords(
      sought,
      words.filter((word) => !telling.includes(word)),
    )
  const memories = sought.index.docs.size
  if (memories < TELLING_MEMORIES) return found
  return unlessNone(
    found.filter(({ matches }) => matches.size <= COMMON * memories),
    found,
  )
}

function scoreOf({ inverseFrequency }: Found, match: Match, relativeLength: number): number {
  const frequency = match.frequency / match.weight
  const saturation = (frequency * (K1 + 1)) / (frequency + K1 * (1 - B + B * relativeLength))
  return inverseFrequency * match.weight * (saturation + DELTA)
}

function standTogether(a: Match, b: Match): boolean {
  const [first, second] = [a.places.toSorted((x, y) => x - y), b.places.toSorted((x, y) => x - y)]
  for (let i = 0, j = 0; i < first.length && j < second.length; ) {
    const apart = (second[j] ?? 0) - (first[i] ?? 0)
    if (Math.abs(apart) <= MOST_APART) return true
    if (apart > 0) i++
    else j++
  }
  return false
}

/** For each two words, one after the other in the query, that stand together in the memory. */
function togetherness(found: readonly Found[], id: number): number {
  return found.reduce((sum, word, at) => {
    const next = found[at + 1]
    const [a, b] = [word.matches.get(id), next?.matches.get(id)]
    if (!next || !a || !b || !standTogether(a, b)) return sum
    return (
      sum + TOGETHER * Math.min(word.inverseFrequency * a.weight, next.inverseFrequency * b.weight)
    )
  }, 0)
}

const better = (a: Ranked, b: Ranked): number =>
  (Math.abs(a.score - b.score) > EQUAL && b.score - a.score) ||
  b.doc.updatedAt - a.doc.updatedAt ||
  (a.doc.key < b.doc.key ? -1 : 1)

function order(index: HomeIndex, found: readonly Found[], candidates: readonly Doc[]): Ranked[] {
  const average = index.averageLength || 1
  const ranked = candidates
    .map((doc) => {
      const relativeLength = doc.length / average
      const score = found.reduce((sum, word) => {
        const match = word.matches.get(doc.id)
        return match ? sum + scoreOf(word, match, relativeLength) : sum
      }, 0)
      return { doc, score }
    })
    .toSorted(better)
  const compared = ranked
    .slice(0, COMPARED)
    .map(({ doc, score }) => ({ doc, score: score + togetherness(found, doc.id) }))
  return [...compared.toSorted(better), ...ranked.slice(COMPARED)]
}

const phraseOf = (tokens: readonly string[]): string => {
  const [only = ''] = tokens
  return tokens.length === 1 && [...only].length === 1 ? `"${only}"*` : `"${tokens.join(' ')}"`
}

const anyOf = (variants: Variants): string =>
  `(${Array.from(variants.keys(), (term) => `"${term}"`).join(' OR ')})`

/** Ids of what has every phrase, and every word where all must be there; undefined: any will do. */
function required(
  index: HomeIndex,
  { words, phrases }: Query,
  found: readonly Found[],
  all: boolean,
): ReadonlySet<number> | undefined {
  if (all && found.length < words.length) return new Set()
  const each = all ? found.map(({ variants }) => anyOf(variants)) : []
  const expression = [...phrases.map(phraseOf), ...each].join(' AND ')
  return expression === '' ? undefined : index.matching(expression)
}

export async function rank(
  index: HomeIndex,
  { q, all, isWanted }: RankedQuery,
  turn: Turn,
): Promise<Ranking> {
  const query = parseQuery(q, all)
  const sought = { index, all, turn, vocabulary: await index.vocabulary(turn) }
  const found = await (all ? findWords : findTelling)(sought, query.words)
  const ids = required(index, query, found, all)
  const candidates = ids ?? new Set(found.flatMap(({ matches }) => [...matches.keys()]))
  const docs = [...candidates].flatMap((id) => index.docs.get(id) ?? []).filter(isWanted)
  return {
    docs: order(index, found, docs).map(({ doc }) => doc),
    matchesOf: (id) =>
      found.flatMap(({ word, matches }) => {
        const match = matches.get(id)
        return match ? [{ written: word.written, term: match.term }] : []
      }),
  }
}
