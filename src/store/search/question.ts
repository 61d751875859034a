/** What is looked for of a question, and which of its words are missing. */
import { calendarValue, daysAsked } from './days.ts'
import type { Doc, HomeIndex } from './home-index.ts'
import { isEnglish, isStopWord } from './stop-words.ts'
import { parseQuery, type Query } from './tokens.ts'
import type { Variants } from './variants.ts'
import type { Turn } from './vocabulary.ts'

/** Code points. A longer question is a text, whose quotes are no phrases. */
const LONGEST_WITH_PHRASES = 500

/** More words are cut to the rarest. */
const MOST_WORDS = 64

/** Code points. Longer words are not told as missing. */
const LONGEST_TOLD = 40

/**
 * The rarest, in their order. Of words of which any may match, those in no memory come after the
 * others, because what is found by a variant is less certain; stop words come last.
 */
async function rarestOf(index: HomeIndex, { words }: Query, all: boolean, turn: Turn) {
  if (words.length <= MOST_WORDS) return words
  await turn()
  const counts = new Uint32Array(words.length)
  const last: Doc[] = []
  const count = (at: number, doc: Doc): void => {
    if (last[at] !== doc) counts[at] = (counts[at] ?? 0) + 1
    last[at] = doc
  }
  await index.visit(words, count, turn)
  const most = index.docs.size + 1
  const rarityOf = (word: string, at: number): number =>
    isStopWord(word) ? most + 1 : counts[at] || (all ? 0 : most)
  const ranked = words.map((word, at) => ({ word, rarity: rarityOf(word, at) }))
  const rarest = ranked.sort((a, b) => a.rarity - b.rarity).slice(0, MOST_WORDS)
  const kept = new Set(rarest.map(({ word }) => word))
  return words.filter((word) => kept.has(word))
}

/** `all`: every word must occur. */
export async function readQuestion(index: HomeIndex, q: string, all: boolean, turn: Turn) {
  const query = parseQuery(q, all)
  const words = await rarestOf(index, query, all, turn)
  const phrases = [...q].length > LONGEST_WITH_PHRASES ? [] : query.phrases
  const asked = all ? [] : [...daysAsked(q)].slice(0, MOST_WORDS)
  const days: ReadonlyMap<string, Variants> = new Map(asked)
  const sought = [...new Set([...words, ...days.keys()])]
  return { ...query, words: sought, phrases, days, isEnglish: isEnglish(query.words) }
}

const QUOTES = /^['`’ʼ]+|['`’ʼ]+$/gu
const NEGATION = /n['’]t$/iu

type Question = Awaited<ReturnType<typeof readQuestion>>

/**
 * In lower case, each once. `missing`: as the index has them. The words of a day that is there may
 * be written otherwise.
 */
export function missingOf({ written, days }: Question, missing: ReadonlySet<string>) {
  const saysDay = days.keys().some((day) => !missing.has(day))
  const isMeant = (token: string): boolean =>
    !isStopWord(token) && !(saysDay && calendarValue(token) !== 0)
  const told = new Set<string>()
  for (const { word, tokens } of written) {
    const significant = tokens.filter(isMeant)
    if (significant.length === 0 || NEGATION.test(word)) continue
    if (!significant.every((token) => missing.has(token))) continue
    const shown = word.replaceAll(QUOTES, '')
    if ([...shown].length <= LONGEST_TOLD && told.size < MOST_WORDS) told.add(shown)
  }
  return [...told]
}
