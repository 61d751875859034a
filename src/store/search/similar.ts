/** Vectors are compared one by one: ten million numbers in ten milliseconds. */
import type { Meant } from '../port/search.ts'
import type { Doc, HomeIndex } from './home-index.ts'
import type { Turn } from './vocabulary.ts'

/** Numbers that are compared without a pause. */
const NUMBERS_PER_TURN = 1_048_576

/**
 * How quickly a result counts less the later it stands in each ranking (Cormack et al., 2009); chosen
 * by `npm run bench -- find`, so that a weak model does not spoil what words find.
 */
const RANK_CONSTANTS = { words: 3, meaning: 8 } as const

/** Digits after the point that 32-bit floats are good for. */
const EXACTLY = 1e6

/** Of two vectors of length 1, the cosine of their angle. */
function similarityOf(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let at = 0; at < a.length; at++) sum += (a[at] ?? 0) * (b[at] ?? 0)
  return Math.round(sum * EXACTLY) / EXACTLY
}

export type Similar =
  /** Most similar first. */
  | {
      readonly outcome: 'compared'
      readonly docs: readonly Doc[]
      /** By the number of the memory. */
      readonly similarities: ReadonlyMap<number, number>
    }
  | { readonly outcome: 'other_length'; readonly numbers: number }

/** The memories whose current text has a vector of that model. */
export async function similarTo(
  index: HomeIndex,
  { model, vector }: Meant,
  isWanted: (doc: Doc) => boolean,
  turn: Turn,
): Promise<Similar> {
  const similarities = new Map<number, number>()
  const docs: Doc[] = []
  let compared = 0
  for (const stored of index.vectors.of(model)) {
    const numbers = stored.vector.length
    if (numbers !== vector.length) return { outcome: 'other_length', numbers }
    const doc = index.docOf(stored.key)
    if (doc?.version !== stored.version || !isWanted(doc)) continue
    similarities.set(doc.id, similarityOf(stored.vector, vector))
    docs.push(doc)
    compared += numbers
    if (compared < NUMBERS_PER_TURN) continue
    compared = 0
    await turn()
  }
  const of = ({ id }: Doc): number => similarities.get(id) ?? 0
  docs.sort((a, b) => of(b) - of(a) || b.updatedAt - a.updatedAt || (a.key < b.key ? -1 : 1))
  return { outcome: 'compared', docs, similarities }
}

/** Two rankings as one: what stands high in both comes first (reciprocal rank fusion). */
export function fused(words: readonly Doc[], meaning: readonly Doc[]): readonly Doc[] {
  const scores = new Map<Doc, number>()
  const add = (ranking: readonly Doc[], constant: number) => {
    for (const [at, doc] of ranking.entries()) {
      scores.set(doc, (scores.get(doc) ?? 0) + 1 / (constant + at + 1))
    }
  }
  add(words, RANK_CONSTANTS.words)
  add(meaning, RANK_CONSTANTS.meaning)
  // A stable sort: at the same score, what the words found comes first.
  return [...scores].sort(([, a], [, b]) => b - a).map(([doc]) => doc)
}
