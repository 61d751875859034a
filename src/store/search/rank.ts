/** Which memories answer a query, best first: BM25+ over words and their variants. */
import { type Doc, docIdOf, type HomeIndex, isInKey, type Posting, placeOf } from './home-index.ts'
import { required } from './required.ts'
import { isEnglish, STOP_WORDS } from './stop-words.ts'
import { parseQuery } from './tokens.ts'
import {
  type Dictionary,
  holdingWord,
  misspellingsOf,
  SAME_MEANING,
  type Variants,
  variantsOf,
} from './variants.ts'
import type { Turn } from './vocabulary.ts'

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
const COMMON_SHARE = 2 / 3
const COMMON_MEMORIES = 2_000
const TELLING_MEMORIES = 100

/** From this weight on a variant tells how rare the word is. */
const SAME_WORD = 0.8

/**
 * What is looked at for a query: of the terms of the index, then of the variants of its words, and
 * then of their places. Words stand for themselves alone beyond it.
 */
const LOOKS = 3_000_000
const VARIANTS = 4_000
const PLACES = 200_000
const PLACES_PER_TERM = 50_000

/** What is ranked, and compared by places, without a pause. */
const RANKED_PER_TURN = 256
const COMPARED_PER_TURN = 4

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
  /** What a word of the query stands for. */
  readonly terms: readonly string[]
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
  /** As which terms a memory has the words of the query, each once. */
  readonly termsIn: (docId: number) => readonly string[]
}

export interface RankedQuery {
  readonly q: string
  /** Every word must be there, whole or as a part. */
  readonly all: boolean
  /** Which of the memories are wanted. */
  readonly isWanted: (doc: Doc) => boolean
}

function addPosting(
  matches: Map<number, Match>,
  posting: Posting,
  term: string,
  weight: number,
): void {
  const [id, place] = [docIdOf(posting), placeOf(posting)]
  let match = matches.get(id)
  if (!match) {
    match = { weight, term, frequency: 0, places: [] }
    matches.set(id, match)
  }
  match.frequency += weight * (isInKey(place) ? KEY : 1)
  match.places.push(place)
  if (weight > match.weight) {
    match.weight = weight
    match.term = term
  }
}

/** In an order that is the same in every index with the same memories: what counts most first. */
const inOrder = (variants: Variants): readonly (readonly [string, number])[] =>
  [...variants].toSorted(([a, weight], [b, other]) => other - weight || (a < b ? -1 : 1))

/** What may still be looked at for the query. */
interface Left {
  variants: number
  places: number
}

async function matchesIn({ index, left, most, turn }: Sought, variants: Variants) {
  const matches = new Map<number, Match>()
  const same = new Set<number>()
  const looked = inOrder(variants).slice(0, Math.max(1, left.variants))
  left.variants -= looked.length
  for (const [term, weight] of looked) {
    await turn()
    if (index.memoriesWith(term) > most) continue
    const found = index.postings(term, Math.min(PLACES_PER_TERM, left.places))
    for (const posting of found) {
      addPosting(matches, posting, term, weight)
      if (weight >= SAME_WORD) same.add(docIdOf(posting))
    }
    left.places -= found.length
  }
  const terms = looked.map(([term]) => term)
  return { matches, terms, having: same.size || matches.size }
}

const weighsAsSame = (matches: ReadonlyMap<number, Match>): boolean =>
  matches.values().some(({ weight }) => weight >= SAME_MEANING)

interface Sought {
  readonly index: HomeIndex
  readonly dictionary: Dictionary
  readonly left: Left
  readonly all: boolean
  readonly isEnglish: boolean
  /** Terms that more memories have are left out. */
  readonly most: number
  readonly turn: Turn
}

async function findWord(sought: Sought, word: string): Promise<Found> {
  const { index, dictionary, all, isEnglish } = sought
  const variants = await (all
    ? holdingWord(dictionary, word)
    : variantsOf(dictionary, word, isEnglish))
  let found = await matchesIn(sought, variants)
  if (!all && !weighsAsSame(found.matches)) {
    const near = await misspellingsOf(dictionary, word)
    if (near.size > 0) found = await matchesIn(sought, new Map([...near, ...variants]))
  }
  const { matches, terms, having } = found
  return { terms, inverseFrequency: inverseFrequencyOf(index, having), matches }
}

async function findWords(sought: Sought, words: readonly string[]): Promise<readonly Found[]> {
  const found: Found[] = []
  for (const word of words) found.push(await findWord(sought, word))
  return found.filter(({ matches }) => matches.size > 0)
}

function mostOf(memories: number): number {
  if (memories < TELLING_MEMORIES) return memories
  return Math.min(COMMON_MEMORIES, COMMON_SHARE * memories)
}

const inverseFrequencyOf = ({ docs }: HomeIndex, having: number): number =>
  Math.log(1 + (docs.size - having + 0.5) / (having + 0.5))

/** A common word alone finds nothing; of what others find it tells whether it is there. */
function presenceOf(index: HomeIndex, word: string, found: readonly Found[]): Found {
  const having = new Set(index.matching(`"${word}"`, 0, Number.MAX_SAFE_INTEGER))
  const match = { weight: 1, term: word, frequency: 1, places: [] }
  const ids = found.flatMap(({ matches }) => [...matches.keys()]).filter((id) => having.has(id))
  return {
    terms: [word],
    inverseFrequency: inverseFrequencyOf(index, having.size),
    matches: new Map(ids.map((id) => [id, match])),
  }
}

/** Without words that say nothing, unless nothing else is found. */
async function findTelling(sought: Sought, words: readonly string[]): Promise<readonly Found[]> {
  const { index } = sought
  const most = mostOf(index.docs.size)
  const [telling, stop] = split(words, (word) => !STOP_WORDS.has(word))
  const [rare, common] = split(telling, (word) => index.memoriesWith(word) <= most)
  const found = await findWords({ ...sought, most }, rare)
  if (found.length > 0) {
    const present: Found[] = []
    for (const word of common) {
      present.push(presenceOf(index, word, found))
      await sought.turn()
    }
    return [...found, ...present]
  }
  const alone = await findWords(sought, common)
  return alone.length > 0 ? alone : findWords(sought, stop)
}

const split = <T>(all: readonly T[], isOf: (each: T) => boolean) =>
  [all.filter(isOf), all.filter((each) => !isOf(each))] as const

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

async function order(
  index: HomeIndex,
  found: readonly Found[],
  candidates: readonly Doc[],
  turn: Turn,
): Promise<Ranked[]> {
  const average = index.averageLength || 1
  const ranked: Ranked[] = []
  for (const doc of candidates) {
    const relativeLength = doc.length / average
    const score = found.reduce((sum, word) => {
      const match = word.matches.get(doc.id)
      return match ? sum + scoreOf(word, match, relativeLength) : sum
    }, 0)
    ranked.push({ doc, score })
    if (ranked.length % RANKED_PER_TURN === 0) await turn()
  }
  ranked.sort(better)
  const compared: Ranked[] = []
  for (const { doc, score } of ranked.slice(0, COMPARED)) {
    compared.push({ doc, score: score + togetherness(found, doc.id) })
    if (compared.length % COMPARED_PER_TURN === 0) await turn()
  }
  return [...compared.toSorted(better), ...ranked.slice(COMPARED)]
}

export async function rank(
  index: HomeIndex,
  { q, all, isWanted }: RankedQuery,
  turn: Turn,
): Promise<Ranking> {
  const { words, phrases } = parseQuery(q, all)
  const dictionary = { terms: await index.terms(turn), allowance: { looks: LOOKS }, turn }
  const left = { variants: VARIANTS, places: PLACES }
  const limits = { left, most: index.docs.size, turn }
  const sought = { index, dictionary, all, isEnglish: isEnglish(words), ...limits }
  const found = await (all ? findWords : findTelling)(sought, words)
  const groups = all ? found.map(({ terms }) => terms) : []
  const ids =
    all && found.length < words.length
      ? new Set<number>()
      : await required(index, { phrases, groups }, dictionary)
  const candidates = ids ?? new Set(found.flatMap(({ matches }) => [...matches.keys()]))
  const docs = [...candidates].flatMap((id) => index.docs.get(id) ?? []).filter(isWanted)
  const ranked = await order(index, found, docs, turn)
  return {
    docs: ranked.map(({ doc }) => doc),
    termsIn: (id) => [...new Set(found.flatMap(({ matches }) => matches.get(id)?.term ?? []))],
  }
}
