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

/** How well one word is matched: whole before in parts, and either in the key before elsewhere. */
function gradeOf(inKey: Occurrences | undefined, inside: Occurrences | undefined): number {
  if (inKey && inKey.whole > 0) return 3
  if (inside && inside.whole > 0) return 2
  return inKey ? 1 : 0
}

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

function measure(words: readonly string[], key: string, inside: string): Measured {
  const weights: number[] = []
  let grade = 0
  for (const word of words) {
    const inKey = occurrencesOf(word, key)
    const within = occurrencesOf(word, inside)
    grade += gradeOf(inKey, within)
    weights.push(weightOf(inKey) + weightOf(within))
  }
  return { grade, weights }
}

/** All that is searched of a memory besides its key, folded. */
const foldedInside = ({ text = '', metadata }: Looked): string =>
  `${foldedText(text)}\n${foldedText(unescaped(metadata))}`

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

  /** How often there is a word is counted over all memories, those that lack another included. */
  function hasAll(key: string, inside: string): boolean {
    let all = true
    for (const [i, word] of words.entries()) {
      if (key.includes(word) || inside.includes(word)) memoriesWith[i] = (memoriesWith[i] ?? 0) + 1
      else all = false
    }
    return all
  }

  /** True: it matches. */
  function look(memory: Looked): boolean {
    const key = foldedText(memory.key)
    const inside = foldedInside(memory)
    memories++
    length += inside.length
    const all = hasAll(key, inside)
    const asWritten = holdsAsWritten(memory, written)
    if (!all && !asWritten) return false
    matches.push({
      key: memory.key,
      asWritten: asWritten ? 1 : 0,
      length: inside.length,
      ...measure(words, key, inside),
    })
    return true
  }

  function scoreOf(match: Match): number {
    const relative = memories > 0 ? (match.length * memories) / length : 1
    const norm = K1 * (1 - B + B * relative)
    return match.weights.reduce((score, weight, i) => {
      const having = memoriesWith[i] ?? 0
      const rarity = Math.log(1 + (memories - having + 0.5) / (having + 0.5))
      return score + (rarity * weight * (K1 + 1)) / (weight + norm)
    }, 0)
  }

  return {
    look,
    /** Keys, best first. */
    ranked: (): readonly string[] =>
      matches
        .map((match) => ({ ...match, score: scoreOf(match) }))
        .toSorted(better)
        .map(({ key }) => key),
  }
}
