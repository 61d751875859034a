/** Finds the memories that match a query, by its words and their variants, and ranks them. */
import { shownTerm } from './days.ts'
import { collecting, type Hits, NO_HITS, noHits } from './gathering.ts'
import type { Doc, HomeIndex } from './home-index.ts'
import { type Found, type Match, order } from './order.ts'
import { missingOf, readQuestion } from './question.ts'
import { required } from './required.ts'
import { hasAccents } from './spelling.ts'
import { isStopWord } from './stop-words.ts'
import {
  compoundsOf,
  containing,
  type Dictionary,
  misspellingsOf,
  SAME_MEANING,
  type Variants,
  variantsOf,
} from './variants.ts'
import { COMPARISON, type Turn } from './vocabulary.ts'

/** The weight of a word in the key, relative to the text. */
const KEY = 2

const DIGIT = /\d/

/** A word in more memories, or in a larger share of them, is ignored, except in small homes. */
const COMMON_MEMORIES = 2_000
const COMMON_SHARE = 2 / 3
const SMALL_HOME = 100

/** Variants of at least this weight count for the rarity of a word. */
const SAME_WORD = 0.8

/**
 * Limits of the work for a query: terms of the index, then variants, then positions. Beyond them,
 * words match only themselves.
 */
const LOOKS = 3_000_000
const VARIANTS = 4_000
const PLACES = 200_000

export interface Ranking {
  /** Best first. */
  readonly docs: readonly Doc[]
  /** The terms by which a memory matches each word of the query. */
  readonly termsIn: (docId: number) => readonly string[]
  /** Words of the query that no memory has, as they are written but in lower case. */
  readonly missing: readonly string[]
}

interface RankedQuery {
  readonly q: string
  /** Every word must occur, as a word or part of one. */
  readonly all: boolean
  /** Which memories may be found. */
  readonly isWanted: (doc: Doc) => boolean
}

/** Ordered by weight, then by a criterion that is the same in every index of the same memories. */
const inOrder = (variants: Variants): readonly (readonly [string, number])[] =>
  [...variants].toSorted(([a, weight], [b, other]) => other - weight || (a < b ? -1 : 1))

/** What remains of the limits for this query. */
interface Left {
  variants: number
  places: number
}

interface Sought {
  readonly index: HomeIndex
  readonly dictionary: Dictionary
  readonly left: Left
  /** Words without any occurrence are added. */
  readonly missing: Set<string>
  readonly all: boolean
  /** Terms of the days that the question names. */
  readonly days: ReadonlyMap<string, Variants>
  readonly isEnglish: boolean
  /** Terms in more memories are skipped. */
  readonly most: number
  readonly turn: Turn
}

async function gather({ index, most, turn }: Sought, meanings: readonly Meaning[]) {
  const gathered = new Map<string, Hits>()
  for (const { terms } of meanings) for (const [term] of terms) gathered.set(term, noHits())
  for (const { word } of meanings) gathered.set(word, noHits(true))
  await index.visit([...gathered.keys()], collecting([...gathered.values()], most), turn)
  return gathered
}

/** A word of the query with its terms, highest weight first. */
interface Meaning {
  readonly word: string
  readonly terms: readonly (readonly [string, number])[]
}

function meaningOf({ left }: Sought, word: string, variants: Variants): Meaning {
  const terms = inOrder(variants).slice(0, Math.max(1, left.variants))
  left.variants -= terms.length
  return { word, terms }
}

async function meaningsOf(sought: Sought, words: readonly string[]): Promise<readonly Meaning[]> {
  const { all, days, dictionary, isEnglish } = sought
  const meanings: Meaning[] = []
  const compounds = all ? new Map() : await compoundsOf(dictionary, words)
  for (const word of words) {
    const variants = await (all
      ? containing(dictionary, word)
      : variantsOf(dictionary, word, compounds.get(word) ?? [], isEnglish))
    meanings.push(meaningOf(sought, word, new Map([...variants, ...(days.get(word) ?? [])])))
    await sought.turn()
  }
  return meanings
}

type Gathered = ReadonlyMap<string, Hits>

const isMissing = ({ terms }: Meaning, gathered: Gathered): boolean =>
  terms.every(([term]) => !gathered.get(term)?.memories)

const occurs = (meaning: Meaning, gathered: Gathered): boolean =>
  meaning.terms.some(
    ([term, weight]) => weight >= SAME_MEANING && gathered.get(term)?.places.length,
  )

const isApart = ({ keyTokens, labelTokens, metadataAt }: Doc, place: number): boolean =>
  place >= metadataAt || (place >= keyTokens && place < labelTokens)

function addHit(
  matches: Map<number, Match>,
  doc: Doc,
  place: number,
  term: string,
  weight: number,
) {
  let match = matches.get(doc.id)
  if (!match) {
    match = { weight, term, frequency: 0, isApart: false, places: [] }
    matches.set(doc.id, match)
  }
  match.frequency += weight * (place < doc.keyTokens ? KEY : 1)
  match.places.push(place)
  match.isApart ||= weight >= SAME_WORD && isApart(doc, place) && !DIGIT.test(term)
}

function foundOf({ index, left }: Sought, { terms }: Meaning, gathered: Gathered): Found {
  const matches = new Map<number, Match>()
  const same = new Set<number>()
  for (const [term, weight] of terms) {
    const { docs, places } = gathered.get(term) ?? NO_HITS
    const most = Math.min(places.length, left.places)
    left.places -= most
    for (let at = 0; at < most; at++) {
      const doc = docs[at]
      if (!doc) break
      addHit(matches, doc, places[at] ?? 0, term, weight)
      if (weight >= SAME_WORD) same.add(doc.id)
    }
  }
  const inverseFrequency = inverseFrequencyOf(index, same.size || matches.size)
  return { terms: terms.map(([term]) => term), matches, inverseFrequency }
}

/** The variants of each word; for a word without any, its possible spellings. */
async function find(sought: Sought, meanings: readonly Meaning[], gathered: Gathered) {
  const near: Meaning[] = []
  for (const meaning of meanings) {
    if (sought.all || occurs(meaning, gathered)) continue
    const misspellings = await misspellingsOf(sought.dictionary, meaning.word)
    const variants = new Map([...misspellings, ...meaning.terms])
    if (misspellings.size > 0) near.push(meaningOf(sought, meaning.word, variants))
  }
  const besides = near.length > 0 ? await gather(sought, near) : gathered
  const found: Found[] = []
  for (const meaning of meanings) {
    const other = near.find(({ word }) => word === meaning.word)
    const sources = [other ?? meaning, other ? besides : gathered] as const
    if (isMissing(...sources)) sought.missing.add(meaning.word)
    found.push(foundOf(sought, ...sources))
    await sought.turn()
  }
  return found.filter(({ matches }) => matches.size > 0)
}

async function findWords(sought: Sought, words: readonly string[]): Promise<readonly Found[]> {
  const meanings = await meaningsOf(sought, words)
  return find(sought, meanings, await gather(sought, meanings))
}

function mostOf(memories: number): number {
  if (memories < SMALL_HOME) return memories
  return Math.min(COMMON_MEMORIES, COMMON_SHARE * memories)
}

const inverseFrequencyOf = ({ docs }: HomeIndex, having: number): number =>
  Math.log(1 + (docs.size - having + 0.5) / (having + 0.5))

/** Common words alone find nothing, but they are reported as matched in what others find. */
function presenceOf(
  { index }: Sought,
  words: readonly string[],
  gathered: Gathered,
  found: readonly Found[],
): readonly Found[] {
  const foundIds = new Set(found.flatMap(({ matches }) => [...matches.keys()]))
  return words.map((word) => {
    const { ids = [] } = gathered.get(word) ?? NO_HITS
    const match = { weight: 1, term: word, frequency: 1, isApart: false, places: [] }
    const present = ids.filter((id) => foundIds.has(id))
    return {
      terms: [word],
      inverseFrequency: inverseFrequencyOf(index, ids.length),
      matches: new Map(present.map((id) => [id, match])),
    }
  })
}

/** Without stop words, unless nothing else matches. */
async function findSignificant(
  sought: Sought,
  words: readonly string[],
): Promise<readonly Found[]> {
  const most = mostOf(sought.index.docs.size)
  const [significant, stop] = split(words, (word) => !isStopWord(word))
  const meanings = await meaningsOf(sought, significant)
  const gathered = await gather({ ...sought, most }, meanings)
  const [rare, common] = split(meanings, ({ word }) => (gathered.get(word)?.memories ?? 0) <= most)
  const found = await find({ ...sought, most }, rare, gathered)
  const commonWords = common.map(({ word }) => word)
  if (found.length > 0) return [...found, ...presenceOf(sought, commonWords, gathered, found)]
  const alone = await findWords(sought, commonWords)
  return alone.length > 0 ? alone : findWords(sought, stop)
}

const split = <T>(all: readonly T[], isOf: (each: T) => boolean) =>
  [all.filter(isOf), all.filter((each) => !isOf(each))] as const

export async function rank(
  index: HomeIndex,
  { q, all, isWanted }: RankedQuery,
  turn: Turn,
): Promise<Ranking> {
  const question = await readQuestion(index, q, all, turn)
  const { words, phrases, days, isEnglish } = question
  const terms = await index.terms(turn)
  const isAccented = words.some(hasAccents)
  const allowance = { looks: LOOKS }
  const dictionary = { terms, isAccented, allowance, turn }
  const left = { variants: VARIANTS, places: PLACES }
  const limits = { left, most: index.docs.size, turn }
  const missing = new Set<string>()
  const sought = { index, dictionary, missing, all, days, isEnglish, ...limits }
  const found = await (all ? findWords : findSignificant)(sought, words)
  const isSpent = allowance.looks < COMPARISON || left.variants <= 0
  const groups = all ? found.map(({ terms }) => terms) : []
  const ids =
    all && found.length < words.length
      ? new Set<number>()
      : await required(index, { phrases, groups }, dictionary)
  const candidates = ids ?? new Set(found.flatMap(({ matches }) => [...matches.keys()]))
  const docs = [...candidates].flatMap((id) => index.docs.get(id) ?? []).filter(isWanted)
  const ranked = await order({ index, found, all, turn }, docs)
  return {
    docs: ranked.map(({ doc }) => doc),
    termsIn: (id) =>
      [...new Set(found.flatMap(({ matches }) => matches.get(id)?.term ?? []))].flatMap(shownTerm),
    // Words that could not be looked for in every form may be there.
    missing: isSpent ? [] : missingOf(question, missing),
  }
}
