/**
 * What neighbours say for a memory: the part of each word of a question that they say better, since an
 * answer is often beside the line that names its subject.
 */
import type { Doc } from './home-index.ts'
import type { Turn } from './vocabulary.ts'

/** Shares of a neighbour's score for a word, chosen by `npm run bench -- find`. */
const NEXT = 0.55
const NEXT_BUT_ONE = 0.25

/** The share of the best scores in the run of neighbours, on average. */
const RUN = 0.45
const BEST = 3

/** How much neighbours count where nothing says who speaks: notes in a row are no conversation. */
const UNSPOKEN = 0.5

/** A text of up to so many characters says little by itself; to a longer one neighbours add less. */
const SHORT = 350

/** Scores that are compared without a pause. */
const COMPARED_PER_TURN = 65_536

/** By the number of the memory. */
export type Scores = Float64Array<ArrayBuffer>

interface Run {
  readonly docs: readonly Doc[]
  readonly share: number
}

function averageOfBest(scores: Scores, docs: readonly Doc[]): number {
  const best: number[] = []
  for (const { id } of docs) {
    const score = scores[id] ?? 0
    if (best.length === BEST && score <= (best[0] ?? 0)) continue
    best.push(score)
    best.sort((a, b) => a - b)
    if (best.length > BEST) best.shift()
  }
  return best.reduce((sum, score) => sum + score, 0) / BEST
}

/** Numbers of the memories, with nobody before and behind. */
function rowOf(docs: readonly Doc[]): Int32Array {
  const row = new Int32Array(docs.length + 4)
  for (const [at, { id }] of docs.entries()) row[at + 2] = id
  return row
}

/** How much more the neighbours of the memory at a place of the row say of a word. */
function besides(row: Int32Array, at: number, word: Scores, share: number): number {
  const nearest = Math.max(word[row[at - 1] ?? 0] ?? 0, word[row[at + 1] ?? 0] ?? 0)
  const others = Math.max(word[row[at - 2] ?? 0] ?? 0, word[row[at + 2] ?? 0] ?? 0)
  const own = word[row[at] ?? 0] ?? 0
  return Math.max(0, share * Math.max(NEXT * nearest, NEXT_BUT_ONE * others) - own)
}

/** Adds to the scores. `words`: what each word contributed to them. */
export async function addNeighbours(
  scores: Scores,
  words: readonly Scores[],
  runs: Iterable<Run>,
  turn: Turn,
): Promise<void> {
  let compared = 0
  for (const { docs, share: most } of runs) {
    const spoken = docs.filter(({ isSpoken }) => isSpoken).length / docs.length
    const share = most * (UNSPOKEN + (1 - UNSPOKEN) * spoken)
    const ofRun = share * RUN * averageOfBest(scores, docs)
    if (ofRun === 0) continue
    const row = rowOf(docs)
    for (const [at, { id, length }] of docs.entries()) {
      const part = Math.min(1, SHORT / length)
      let more = part * ofRun
      for (const word of words) more += besides(row, at + 2, word, part * share)
      scores[id] = (scores[id] ?? 0) + more
      compared += words.length
      if (compared < COMPARED_PER_TURN) continue
      compared = 0
      await turn()
    }
  }
}
