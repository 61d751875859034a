/**
 * The variants of a query's words in an index, and their weights. Words and terms are compared in one
 * spelling each, and looked up in all of them.
 */
import { stemmer } from 'stemmer'
import { hasAccents, spellingOf } from './spelling.ts'
import { isUnspaced } from './tokens.ts'
import { type Allowance, COMPARISON, type Terms, type Turn } from './vocabulary.ts'

/** Weights relative to an exact match, chosen by `npm run bench -- find`. */
const WEIGHTS = {
  /** The same word in another spelling: Мёд, мед. */
  spelling: 0.9,
  /** With other accents, in a question with accents: ban for bạn. */
  accents: 0.4,
  /** Same English stem: allergies, allergy. */
  stem: 0.9,
  /** Same beginning with another ending: книгою for книга, Bäume for Baum. */
  inflection: 0.7,
  richInflection: 0.9,
  /** Starts with the word. */
  beginning: 0.5,
  /** A compound that ends with the word: Stromrechnung for Rechnung. */
  ending: 0.6,
  /** The parts of a compound: Strom and Rechnung for Stromrechnung. */
  part: 0.7,
  /** Contains the word, with match=all. */
  containing: 0.25,
  /** One or two letters differ, if nothing else matches. */
  near: 0.4,
} as const

/**
 * In English questions stems decide: other variants count half, so that "studies" does not find
 * "studio".
 */
const ALIKE_IN_ENGLISH = 0.5

/** If there is a variant of at least this weight, no misspellings are tried. */
export const SAME_MEANING = 0.3

/** Characters. Shorter beginnings, endings and parts are not used. */
const MIN_CHARS = 4
const COMPOUND = 8
/**
 * Words that share this much are inflections, with endings of that length: підписує, підписуватиме.
 */
const LONG = 6
const MOST_ENDING = 3
/** Longer words only match themselves. */
const LONGEST_WORD = 40

/** Variants per kind, first in order, and terms compared for them. */
const MOST_VARIANTS = 200
const MOST_ALIKE = 2_000
/** All spellings of them. */
const MOST_SPELLED = 4_000

/** Linking elements of German compounds. */
const LINKS = ['', 's', 'es', 'n', 'en', 'er', 'e'] as const

/** Noun endings in compounds. */
const ENDINGS = ['', 'e', 's', 'n', 'en', 'er', 'es'] as const

export type Variants = ReadonlyMap<string, number>

/** The vocabulary that variants come from. */
export interface Dictionary {
  readonly terms: Terms
  /** Some word of the query has accents, so that a word without them is meant without. */
  readonly isAccented: boolean
  readonly allowance: Allowance
  readonly turn: Turn
}

const LATIN = /^[a-z]+$/
/** Scripts of languages with many noun endings. */
const ENDS_MUCH = /^[\p{Script=Cyrillic}\p{Script=Greek}]+$/u
const DIGIT = /\d/

function sharedBeginning(a: string, b: string): number {
  let at = 0
  while (at < a.length && at < b.length && a[at] === b[at]) at++
  return at
}

/** How much two inflections share at least: three fifths of this one. */
function beginningOf(word: string): string {
  const length = Math.ceil(word.length * 0.6) - (word.length > 6 ? 1 : 0)
  return word.slice(0, Math.max(3, length))
}

function likeness(word: string, stem: string | undefined, term: string): number {
  const isLatin = stem !== undefined
  if (isLatin && stemmer(term) === stem) return WEIGHTS.stem
  const shared = sharedBeginning(word, term)
  const ending = Math.max(word.length, term.length) - shared
  const enough = isLatin ? MIN_CHARS : Math.max(MIN_CHARS - 1, Math.min(MIN_CHARS, word.length - 2))
  if (shared >= enough && ending <= MOST_ENDING) {
    return ENDS_MUCH.test(word) ? WEIGHTS.richInflection : WEIGHTS.inflection
  }
  const isLong = shared >= LONG && ending <= LONG
  return isLong || (shared === word.length && shared >= MIN_CHARS) ? WEIGHTS.beginning : 0
}

function withoutShared(a: string, b: string): readonly [string, string] {
  const start = sharedBeginning(a, b)
  let end = 0
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end++
  return [a.slice(start, a.length - end), b.slice(start, b.length - end)]
}

/** Optimal string alignment distance: missing, added, replaced or swapped letters. */
function distance(a: string, b: string): number {
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
  return above[b.length] ?? 0
}

/** A quick lower bound, which excludes most terms. */
function isNear(word: string, term: string, most: number): boolean {
  if (Math.abs(word.length - term.length) > most) return false
  const [a, b] = withoutShared(word, term)
  return (most > 1 || a.length <= 2) && distance(a, b) <= most
}

/** All ways to split a long word in two. */
function* partsOf(word: string): Generator<readonly [string, string]> {
  for (let at = MIN_CHARS; at <= word.length - MIN_CHARS; at++) {
    for (const link of LINKS) {
      const tail = word.startsWith(link, at) ? word.slice(at + link.length) : ''
      if (tail.length >= MIN_CHARS) yield [word.slice(0, at), tail]
    }
  }
}

function* compoundParts({ terms }: Dictionary, word: string): Generator<string> {
  if (word.length < COMPOUND || word.length > LONGEST_WORD || terms.has(word)) return
  for (const parts of partsOf(word)) if (parts.every((part) => terms.has(part))) yield* parts
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

/** Terms with their weights in all spellings, of which the one that is asked for counts most. */
function spelled({ terms, isAccented }: Dictionary, asked: string, variants: Variants): Variants {
  const { weights, add } = collect()
  const word = spellingOf(asked)
  for (const [term, weight] of variants) {
    if (term !== word && weights.size < MOST_SPELLED) add(weight, ...terms.spellingsOf(term))
  }
  for (const term of variants.has(word) ? terms.spellingsOf(word) : []) {
    const isOther = isAccented && (hasAccents(term) || hasAccents(asked))
    add(isOther ? WEIGHTS.accents : WEIGHTS.spelling, term)
  }
  if (variants.has(word)) add(1, asked)
  return weights
}

export const spellingsOf = ({ terms }: Dictionary, asked: string): readonly string[] => [
  ...new Set([asked, ...terms.spellingsOf(spellingOf(asked))]),
]

/**
 * A single character of a script without spaces matches the pairs that start with it; a pair
 * matches itself.
 */
async function unspacedVariants(dictionary: Dictionary, asked: string): Promise<Variants> {
  const token = spellingOf(asked)
  const begun = [...token].length === 1 ? await beginningWith(dictionary, token) : []
  return spelled(dictionary, asked, new Map([token, ...begun].map((term) => [term, 1])))
}

const beginningWith = (
  { terms, allowance, turn }: Dictionary,
  beginning: string,
): Promise<readonly string[]> =>
  terms.find({ beginning, test: () => true, most: MOST_ALIKE, cost: COMPARISON }, allowance, turn)

const NO_ENDINGS: readonly Ending[] = []

/** The ending of a compound with this word. */
interface Ending {
  readonly suffix: string
  readonly compounds: string[]
}

const lastUnits = (term: string): number =>
  term.charCodeAt(term.length - 2) * 65_536 + term.charCodeAt(term.length - 1)

const isWord = (word: string): boolean =>
  word.length >= MIN_CHARS && word.length <= LONGEST_WORD && !DIGIT.test(word) && !isUnspaced(word)

/** Terms that end with each word, in one scan for all of them. */
export async function compoundsOf(
  { terms, allowance, turn }: Dictionary,
  words: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, string[]>()
  const endings = new Map<number, Ending[]>()
  for (const asked of words) {
    const word = spellingOf(asked)
    if (!isWord(word)) continue
    const compounds: string[] = []
    found.set(asked, compounds)
    for (const ending of ENDINGS) {
      const suffix = word + ending
      const alike = endings.get(lastUnits(suffix)) ?? []
      endings.set(lastUnits(suffix), [...alike, { suffix, compounds }])
    }
  }
  /** Most terms end otherwise, which an array tells sooner than a map. */
  const last = new Uint8Array(65_536)
  for (const units of endings.keys()) last[units % 65_536] = 1
  const test = (term: string): boolean => {
    if (last[term.charCodeAt(term.length - 1)] !== 1) return false
    for (const { suffix, compounds } of endings.get(lastUnits(term)) ?? NO_ENDINGS) {
      const isCompound = term.length - suffix.length >= MOST_ENDING && term.endsWith(suffix)
      if (isCompound && compounds.length < MOST_ALIKE) compounds.push(term)
    }
    return false
  }
  if (found.size > 0) await terms.find({ test, most: 1 }, allowance, turn)
  return new Map([...found].map(([word, all]) => [word, all.toSorted().slice(0, MOST_VARIANTS)]))
}

/** Terms with the same or nearly the same meaning; some may occur in no memory. */
export async function variantsOf(
  dictionary: Dictionary,
  asked: string,
  compounds: readonly string[],
  isEnglish: boolean,
): Promise<Variants> {
  if (isUnspaced(asked)) return unspacedVariants(dictionary, asked)
  const word = spellingOf(asked)
  const { weights, add } = collect()
  add(1, word)
  if (word.length > LONGEST_WORD || DIGIT.test(word)) {
    const isBeginning = word.length >= MIN_CHARS && word.length <= LONGEST_WORD
    if (isBeginning) add(WEIGHTS.beginning, ...(await beginningWith(dictionary, word)))
    return spelled(dictionary, asked, weights)
  }
  const stem = LATIN.test(word) ? stemmer(word) : undefined
  const alike = stem !== undefined && isEnglish ? ALIKE_IN_ENGLISH : 1
  for (const term of await beginningWith(dictionary, beginningOf(word))) {
    const weight = likeness(word, stem, term)
    if (weight > 0) add(weight === WEIGHTS.stem ? weight : weight * alike, term)
  }
  add(alike * WEIGHTS.ending, ...compounds)
  add(WEIGHTS.part, ...compoundParts(dictionary, word))
  return spelled(dictionary, asked, weights)
}

/** Possible spellings, if the word and its variants do not occur. */
export async function misspellingsOf(dictionary: Dictionary, asked: string): Promise<Variants> {
  const { terms, allowance, turn } = dictionary
  const word = spellingOf(asked)
  if (word.length < MIN_CHARS || word.length > 3 * COMPOUND || DIGIT.test(word)) return new Map()
  const most = word.length >= COMPOUND ? 2 : 1
  const test = (term: string) => isNear(word, term, most)
  const look = { beginning: word[0] ?? '', test, most: MOST_VARIANTS, cost: COMPARISON }
  const near = await terms.find(look, allowance, turn)
  return spelled(dictionary, asked, new Map(near.map((term) => [term, WEIGHTS.near])))
}

/** The word, or a term that contains it. */
export async function containing(dictionary: Dictionary, asked: string): Promise<Variants> {
  if (isUnspaced(asked)) return unspacedVariants(dictionary, asked)
  const word = spellingOf(asked)
  const { terms, allowance, turn } = dictionary
  const found =
    word.length < MOST_ENDING
      ? await beginningWith(dictionary, word)
      : await terms.find({ test: (term) => term.includes(word), most: MOST_ALIKE }, allowance, turn)
  const weights = found.map((term) => [term, WEIGHTS.containing] as const)
  return spelled(dictionary, asked, new Map([...weights, [word, 1]]))
}
