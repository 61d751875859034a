/** Orders the memories that were found: BM25+, neighbours, names, and words that stand together. */
import type { Doc, HomeIndex } from './home-index.ts'
import { addNeighbours, type Scores } from './neighbours.ts'
import type { Turn } from './vocabulary.ts'

/** BM25+ parameters, chosen by `npm run bench -- find`. */
const K1 = 1
const B = 0.3
const DELTA = 0.5

/** The weight of two adjacent words, relative to the rarer of them. */
const PROXIMITY = 0.2
/** The largest distance that still counts as near. */
const MOST_APART = 4

/** A memory that has a word of the question as its label, or in its metadata, counts so much. */
const NAMED = 1.4

/** Memories compared without a pause. */
const COMPARED_PER_TURN = 4

/** How many of the best are compared by the distances of their words. */
const COMPARED = 100

/** Scores that differ by less are equal. */
const EQUAL = 1e-9

/** A word of the query in a memory. */
export interface Match {
  /** Of the variant with the highest weight. */
  weight: number
  term: string
  frequency: number
  /** Whether it stands before the text, as who says it, or in the metadata. */
  isApart: boolean
  /** Over all columns. */
  readonly places: number[]
}

export interface Found {
  /** A word of the query with its variants. */
  readonly terms: readonly string[]
  readonly inverseFrequency: number
  readonly matches: ReadonlyMap<number, Match>
}

interface Ranked {
  readonly doc: Doc
  readonly score: number
}

function scoreOf({ inverseFrequency }: Found, match: Match, relativeLength: number): number {
  const frequency = match.frequency / match.weight
  const saturation = (frequency * (K1 + 1)) / (frequency + K1 * (1 - B + B * relativeLength))
  return inverseFrequency * match.weight * (saturation + DELTA)
}

function areNear(a: Match, b: Match): boolean {
  const [first, second] = [a.places.toSorted((x, y) => x - y), b.places.toSorted((x, y) => x - y)]
  for (let i = 0, j = 0; i < first.length && j < second.length; ) {
    const apart = (second[j] ?? 0) - (first[i] ?? 0)
    if (Math.abs(apart) <= MOST_APART) return true
    if (apart > 0) i++
    else j++
  }
  return false
}

/** For each two consecutive words of the query that are adjacent in the memory. */
function proximityOf(found: readonly Found[], id: number): number {
  return found.reduce((sum, word, at) => {
    const next = found[at + 1]
    const [a, b] = [word.matches.get(id), next?.matches.get(id)]
    if (!next || !a || !b || !areNear(a, b)) return sum
    return (
      sum + PROXIMITY * Math.min(word.inverseFrequency * a.weight, next.inverseFrequency * b.weight)
    )
  }, 0)
}

const better = (a: Ranked, b: Ranked): number =>
  (Math.abs(a.score - b.score) > EQUAL && b.score - a.score) ||
  b.doc.updatedAt - a.doc.updatedAt ||
  (a.doc.key < b.doc.key ? -1 : 1)

interface Scored {
  /** By the number of the memory. */
  readonly scores: Scores
  /** What each word contributed. */
  readonly words: readonly Scores[]
  /** 1 where a word of the question stands apart: before the text, or in the metadata. */
  readonly named: Uint8Array
}

/** Of all memories, wanted or not. */
async function scored(index: HomeIndex, found: readonly Found[], turn: Turn): Promise<Scored> {
  const average = index.averageLength || 1
  const scores = new Float64Array(index.numbers)
  const named = new Uint8Array(index.numbers)
  const words: Scores[] = []
  for (const word of found) {
    const its = new Float64Array(index.numbers)
    for (const [id, match] of word.matches) {
      const { length = average } = index.docs.get(id) ?? {}
      const score = scoreOf(word, match, length / average)
      its[id] = score
      scores[id] = (scores[id] ?? 0) + score
      if (match.isApart) named[id] = 1
    }
    words.push(its)
    await turn()
  }
  return { scores, words, named }
}

interface Ordered {
  readonly index: HomeIndex
  readonly found: readonly Found[]
  readonly all: boolean
  readonly turn: Turn
}

/** The candidates, best first. */
export async function order(
  { index, found, all, turn }: Ordered,
  candidates: readonly Doc[],
): Promise<Ranked[]> {
  const { scores, words, named } = await scored(index, found, turn)
  if (!all) await addNeighbours(scores, words, index.sequences.runs(), turn)
  const ranked = candidates.map((doc) => {
    const score = scores[doc.id] ?? 0
    return { doc, score: named[doc.id] ? NAMED * score : score }
  })
  await turn()
  ranked.sort(better)
  const compared: Ranked[] = []
  for (const { doc, score } of ranked.slice(0, COMPARED)) {
    compared.push({ doc, score: score + proximityOf(found, doc.id) })
    if (compared.length % COMPARED_PER_TURN === 0) await turn()
  }
  return [...compared.toSorted(better), ...ranked.slice(COMPARED)]
}
