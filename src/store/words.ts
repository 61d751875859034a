/**
 * Splits texts into words exactly as SQLite's FTS5 tokenizer does, for storing and for searching,
 * on every engine. Split differently, a searched word would become a phrase, for which FTS5 reads
 * all positions of its parts.
 */
import { lazily } from '../lazily.ts'
import { FOLDS, JOINERS, SEPARATORS } from './letters.ts'

/** Longer words, such as hashes and keys, are not indexed. */
const MAX_WORD_CHARS = 40

/** Distinct words indexed per text, the first ones: an index must not outgrow its texts. */
const MAX_WORDS = 512

/** A text without that many distinct words in its first part is repetitive. */
const MAX_LOOKED_AT = 4_096

/** Searched words; each costs a lookup. */
const MAX_SOUGHT = 24

/** Shorter words of a phrase are mostly function words: "the", "and", "для". */
const TELLING = /.{4}/u

const hex = (digits: string): number => Number.parseInt(digits, 16)

/** Inside of a character class. */
const inClass = (ranges: string): string => ranges.replace(/\w+/g, '\\u{$&}').replace(/\s/g, '')

const JOINER = inClass(JOINERS)
const LETTER = `[^${inClass(SEPARATORS)}\\u{d800}-\\u{dfff}]`
const WORD = new RegExp(`${LETTER}(?:${LETTER}|[${JOINER}])*`, 'gu')

function* foldsOf(run: string): Generator<[string, string]> {
  const [, first = '', last = first, every, how, by = ''] =
    /^(\w+)(?:-(\w+)(\/2)?)?([=+-])(\w+)$/.exec(run) ?? []
  for (let c = hex(first); c <= hex(last); c += every ? 2 : 1) {
    const shifted = how === '+' ? c + hex(by) : c - hex(by)
    yield [String.fromCodePoint(c), String.fromCodePoint(how === '=' ? hex(by) : shifted)]
  }
}

const isLower = (letter: string): boolean => letter === letter.toLowerCase()

function makeFolding() {
  const runs = FOLDS.trim().split(/\s+/)
  const folded = new Map(runs.flatMap((run) => [...foldsOf(run)]))
  /** Characters that need folding beyond lower case: accents and joiners. */
  const left = new RegExp(`[${JOINER}${[...folded.keys()].filter(isLower).join('')}]`, 'gu')
  return { folded, left }
}

/** Loaded lazily, because most writes fold nothing. */
const folding = lazily(makeFolding)

const JOINING = new RegExp(`[${JOINER}]`, 'gu')
const FOLDABLE = /[^a-z0-9]/gu
const FOLDED = /^[a-z0-9]+$/

function foldAny(word: string): string {
  const { folded } = folding()
  return word.replace(JOINING, '').replace(FOLDABLE, (letter) => folded.get(letter) ?? letter)
}

/** Most words need nothing. */
const fold = (word: string): string => (FOLDED.test(word) ? word : foldAny(word))

/** In order, folded: lower case, without the accents of Latin letters. */
export const wordsOf = (text: string): string[] => (text.match(WORD) ?? []).map(fold)

/**
 * Folded like words, and by all case mappings of JavaScript. Each character is folded independently
 * of its neighbours, so that a part of a text folds to a part of the folded text.
 */
export function foldedCharacters(text: string): string {
  const { folded, left } = folding()
  // Via upper case, which alone maps ß and ẞ to ss, and ligatures to their letters.
  const cased = text.toLowerCase().toUpperCase().toLowerCase()
  return cased.replace(left, (letter) => folded.get(letter) ?? '')
}

/**
 * The first words. `matchAll` would copy the pattern for each text, so `lastIndex` is set here,
 * each time, because an earlier iteration may have stopped in the middle.
 */
function* runsIn(text: string, most: number): Generator<string> {
  for (let at = 0, count = 0; count < most; count++) {
    WORD.lastIndex = at
    const [run] = WORD.exec(text) ?? []
    if (run === undefined) return
    at = WORD.lastIndex
    yield run
  }
}

const isShort = (word: string): boolean => word.length <= MAX_WORD_CHARS

/** The words of a text for the index: each once, within the limits. */
export function wordsToFind(text: string): string[] {
  const words = new Set<string>()
  for (const run of runsIn(text, MAX_LOOKED_AT)) {
    if (words.size === MAX_WORDS) break
    const word = fold(run)
    if (isShort(word)) words.add(word)
  }
  return [...words]
}

/** The first words of the phrase. */
function tellingWords(phrase: string, most: number) {
  const words = runsIn(phrase, most).map(fold).toArray()
  const telling = words.filter((word) => TELLING.test(word))
  return { looked: words.length, words: telling.length > 0 ? telling : words }
}

/** The words to search for, limited in number and length, from a limited part of the phrase. */
export function wordsSought(phrases: readonly string[]): string[] {
  const sought = new Set<string>()
  let looked = 0
  for (const phrase of phrases) {
    if (sought.size >= MAX_SOUGHT || looked >= MAX_LOOKED_AT) break
    const found = tellingWords(phrase, MAX_LOOKED_AT - looked)
    // A phrase without words is also cut.
    looked += Math.max(1, found.looked)
    for (const word of found.words) if (isShort(word)) sought.add(word)
  }
  return [...sought].slice(0, MAX_SOUGHT)
}
