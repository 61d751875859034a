/** Which words of an index a word of a query stands for, and how much each counts. */
import { stemmer } from 'stemmer'
import type { HomeIndex } from './home-index.ts'
import { isUnspaced } from './tokens.ts'

/** What a variant counts, where the very word counts 1. Chosen by `npm run bench -- find`. */
const WEIGHTS = {
  /** Of one English stem: allergies of allergy. */
  stem: 0.9,
  /** Of one beginning, with other endings: книгою of книга, Bäume of Baum. */
  inflection: 0.7,
  richInflection: 0.9,
  /** It begins with the word. */
  beginning: 0.5,
  /** A compound that ends with the word: Stromrechnung of Rechnung. */
  ending: 0.6,
  /** The parts of a compound: Strom and Rechnung of Stromrechnung. */
  part: 0.7,
  /** It holds the word somewhere, where every word must be there. */
  holding: 0.25,
  /** Misspelt by a letter or two, where nothing else is there. */
  near: 0.5,
} as const

/** A variant of at least this weight means what the word means: no misspelling is looked for. */
export const SAME_MEANING = 0.5

/** Characters. A beginning, an ending or a part that is shorter says too little. */
const TELLING = 4
const COMPOUND = 8
/** Words that share so much are one, with endings as long: підписує and підписуватиме. */
const LONG = 6
const MOST_ENDING = 3

/** Of nouns, at the end of a compound. */
const ENDINGS = new Set(['', 'e', 's', 'n', 'en', 'er', 'es'])

/** Variants by the vocabulary: the first in alphabetical order. */
const MOST_VARIANTS = 200
const MOST_HOLDING = 2_000

/** Between the parts of a German compound. */
const LINKS = ['', 's', 'es', 'n', 'en', 'er', 'e'] as const

export type Variants = ReadonlyMap<string, number>

const LATIN = /^[a-z]+$/
/** Scripts of languages whose nouns have many endings. */
const ENDS_MUCH = /^[\p{Script=Cyrillic}\p{Script=Greek}]+$/u
const DIGIT = /\d/

function sharedBeginning(a: string, b: string): number {
  let at = 0
  while (at < a.length && at < b.length && a[at] === b[at]) at++
  return at
}

/** How much of a word two inflections of it share at least: three fifths of this one. */
function beginningOf(word: string): string {
  const length = Math.ceil(word.length * 0.6) - (word.length > 6 ? 1 : 0)
  return word.slice(0, Math.max(3, length))
}

function likeness(word: string, stem: string | undefined, term: string): number {
  const isLatin = stem !== undefined
  if (isLatin && stemmer(term) === stem) return WEIGHTS.stem
  const shared = sharedBeginning(word, term)
  const ending = Math.max(word.length, term.length) - shared
  const enough = isLatin ? TELLING : Math.max(TELLING - 1, Math.min(TELLING, word.length - 2))
  if (shared >= enough && ending <= MOST_ENDING) {
    return ENDS_MUCH.test(word) ? WEIGHTS.richInflection : WEIGHTS.inflection
  }
  const isLong = shared >= LONG && ending <= LONG
  return isLong || (shared === word.length && shared >= TELLING) ? WEIGHTS.beginning : 0
}

/** Optimal string alignment: letters that are missing, added, other or swapped. */
function isNear(a: string, b: string, most: number): boolean {
  if (Math.abs(a.length - b.length) > most) return false
  let before: number[] = []
  let above = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const changed = (above[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const swapped =
        a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? (before[j - 2] ?? 0) + 1 : changed
      row.push(Math.min(changed, swapped, (above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1))
    }
    before = above
    above = row
  }
  return (above[b.length] ?? 0) <= most
}

/** Every way in which a long word may be two. */
function* partsOf(word: string): Generator<readonly [string, string]> {
  for (let at = TELLING; at <= word.length - TELLING; at++) {
    for (const link of LINKS) {
      const tail = word.startsWith(link, at) ? word.slice(at + link.length) : ''
      if (tail.length >= TELLING) yield [word.slice(0, at), tail]
    }
  }
}

const has = (index: HomeIndex, term: string): boolean => index.memoriesWith(term) > 0

function* compoundParts(index: HomeIndex, word: string): Generator<string> {
  if (word.length < COMPOUND || has(index, word)) return
  for (const parts of partsOf(word)) if (parts.every((part) => has(index, part))) yield* parts
}

/** Terms of the vocabulary that hold a word, and where; those that hold it twice come twice. */
function* termsHolding(word: string, vocabulary: string): Generator<readonly [string, number]> {
  for (let at = vocabulary.indexOf(word); at >= 0; at = vocabulary.indexOf(word, at + 1)) {
    const start = vocabulary.lastIndexOf('\n', at) + 1
    yield [vocabulary.slice(start, vocabulary.indexOf('\n', at)), at - start]
  }
}

/** Each once, the first in alphabetical order: an index that grew otherwise gives the same. */
const firstOf = (terms: Iterable<string>, most: number): readonly string[] =>
  [...new Set(terms)].toSorted().slice(0, most)

/** Compounds that end with the word, in any of its endings. */
function* compoundsEndingWith(word: string, vocabulary: string): Generator<string> {
  for (const [term, at] of termsHolding(word, vocabulary)) {
    if (at >= MOST_ENDING && ENDINGS.has(term.slice(at + word.length))) yield term
  }
}

function* near(word: string, vocabulary: string): Generator<string> {
  if (word.length < TELLING || word.length > 3 * COMPOUND || DIGIT.test(word)) return
  const most = word.length >= COMPOUND ? 2 : 1
  const first = `\n${word[0]}`
  for (let at = vocabulary.indexOf(first); at >= 0; at = vocabulary.indexOf(first, at + 1)) {
    const end = vocabulary.indexOf('\n', at + 1)
    if (Math.abs(end - at - 1 - word.length) > most) continue
    const term = vocabulary.slice(at + 1, end)
    if (isNear(word, term, most)) yield term
  }
}

function collect() {
  const weights = new Map<string, number>()
  return {
    weights,
    add(weight: number, ...terms: readonly string[]): void {
      for (const term of terms) weights.set(term, Math.max(weight, weights.get(term) ?? 0))
    },
  }
}

/** One character of a script without spaces begins pairs; a pair is itself. */
const unspacedVariants = (index: HomeIndex, token: string): Variants =>
  new Map(
    [token, ...([...token].length === 1 ? index.termsFrom(token) : [])].map((term) => [term, 1]),
  )

/** Terms that mean what the word means, or nearly; some of them may be in no memory. */
export function variantsOf(index: HomeIndex, word: string, vocabulary: string): Variants {
  if (isUnspaced(word)) return unspacedVariants(index, word)
  const { weights, add } = collect()
  add(1, word)
  if (DIGIT.test(word)) {
    if (word.length >= TELLING) add(WEIGHTS.beginning, ...index.termsFrom(word))
    return weights
  }
  const stem = LATIN.test(word) ? stemmer(word) : undefined
  for (const term of index.termsFrom(beginningOf(word))) {
    const weight = likeness(word, stem, term)
    if (weight > 0) add(weight, term)
  }
  if (word.length >= TELLING) {
    add(WEIGHTS.ending, ...firstOf(compoundsEndingWith(word, vocabulary), MOST_VARIANTS))
  }
  add(WEIGHTS.part, ...compoundParts(index, word))
  return weights
}

/** What may be meant where the word and its variants are nowhere. */
export const misspellingsOf = (word: string, vocabulary: string): Variants =>
  new Map(firstOf(near(word, vocabulary), MOST_VARIANTS).map((term) => [term, WEIGHTS.near]))

/** The word whole, or as a part of another. */
export function holdingWord(index: HomeIndex, word: string, vocabulary: string): Variants {
  if (isUnspaced(word)) return unspacedVariants(index, word)
  const holding =
    word.length < MOST_ENDING
      ? index.termsFrom(word)
      : firstOf(
          termsHolding(word, vocabulary).map(([term]) => term),
          MOST_HOLDING,
        )
  return new Map([...holding.map((term) => [term, WEIGHTS.holding] as const), [word, 1]])
}
