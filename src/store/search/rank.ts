/** Which of the memories that were looked at is the better match. */
import type { MemorySummary } from '../port/keeping/memories.ts'
import { foldedText } from './fold.ts'
import { type Occurrences, occurrencesOf } from './match.ts'
import type { Sought } from './query.ts'

/** Of a memory, what is looked at. */
export type Looked = Pick<MemorySummary, 'key' | 'text' | 'metadata'>

/** Okapi BM25 with its usual constants. */
const K1 = 1.2
const B = 0.75

/** What a part of a word counts, where a whole one counts 1. */
const PART = 0.25

const isWhole = (found: Occurrences | undefined): boolean => found !== undefined && found.whole > 0

const weightOf = (found: Occurrences | undefined): number =>
  found ? found.whole + PART * (found.count - found.whole) : 0

interface Measured {
  /** Of all words together. */
  readonly grade: number
  /** Of each word: how often it is there. */
  readonly weights: readonly number[]
}

interface Match extends Measured {
  readonly key: string
  /** 1 where the query stands as it was written. */
  readonly asWritten: number
  readonly length: number
}

/** What is searched of a memory, folded. */
interface Folded {
  readonly key: string
  readonly text: string
  readonly metadata: string
}

const folded = ({ key, text = '', metadata }: Looked): Folded => ({
  key: foldedText(key),
  text: foldedText(text),
  metadata: foldedText(unescaped(metadata)),
})

/** A word that is matched whole comes before one in parts, and either in the key before elsewhere. */
function measure(words: readonly string[], { key, text, metadata }: Folded): Measured {
  const weights: number[] = []
  let grade = 0
  for (const word of words) {
    const inKey = occurrencesOf(word, key)
    const inText = occurrencesOf(word, text)
    const inMetadata = occurrencesOf(word, metadata)
    if (isWhole(inKey)) grade += 3
    else if (isWhole(inText) || isWhole(inMetadata)) grade += 2
    else if (inKey) grade += 1
    weights.push(weightOf(inKey) + weightOf(inText) + weightOf(inMetadata))
  }
  return { grade, weights }
}

/** A client may spell as escapes what others write as it is. */
const unescaped = (metadata: string): string =>
  metadata.includes('\\') ? JSON.stringify(JSON.parse(metadata)) : metadata

const holdsAsWritten = ({ key, text = '', metadata }: Looked, written: string): boolean =>
  text.includes(written) || key.includes(written) || metadata.includes(written)

interface Scored extends Match {
  readonly score: number
}

/** By grade, then as written, then by BM25, then by key: no two are equal. */
const better = (a: Scored, b: Scored): number =>
  b.grade - a.grade || b.asWritten - a.asWritten || b.score - a.score || (a.key < b.key ? -1 : 1)

/** Looks at memories one by one, and ranks those that match when all were looked at. */
export function createRanking({ words, written }: Sought) {
  const matches: Match[] = []
  const memoriesWith = words.map(() => 0)
  let memories = 0
  let length = 0

  /** True: it matches. */
  function look(memory: Looked): boolean {
    const inside = folded(memory)
    const { grade, weights } = measure(words, inside)
    const units = inside.text.length + inside.metadata.length
    memories++
    length += units
    // How often there is a word is counted over all memories, those that lack another included.
    for (const [i, weight] of weights.entries()) {
      if (weight > 0) memoriesWith[i] = (memoriesWith[i] ?? 0) + 1
    }
    const asWritten = holdsAsWritten(memory, written)
    const hasAll = weights.length > 0 && !weights.includes(0)
    if (!asWritten && !hasAll) return false
    matches.push({ key: memory.key, asWritten: asWritten ? 1 : 0, length: units, grade, weights })
    return true
  }

  const rarityOf = (having: number): number =>
    Math.log(1 + (memories - having + 0.5) / (having + 0.5))

  function scoreOf(match: Match, rarities: readonly number[]): number {
    const relative = memories > 0 ? (match.length * memories) / length : 1
    const norm = K1 * (1 - B + B * relative)
    return match.weights.reduce(
      (score, weight, i) => score + ((rarities[i] ?? 0) * weight * (K1 + 1)) / (weight + norm),
      0,
    )
  }

  /** Keys, best first. */
  function ranked(): readonly string[] {
    const rarities = memoriesWith.map(rarityOf)
    return matches
      .map((match) => ({ ...match, score: scoreOf(match, rarities) }))
      .toSorted(better)
      .map(({ key }) => key)
  }

  return { look, ranked }
}
