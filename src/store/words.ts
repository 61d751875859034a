/**
 * The words of a text, as the embedded engine's tokenizer sees them: one way of splitting for what
 * is stored, what is sought, and every engine. Split otherwise, a word that is sought would be a
 * phrase to the engine, which then reads every place where its parts stand.
 */
import { lazily } from '../lazily.ts'
import { FOLDS, JOINERS, SEPARATORS } from './letters.ts'

/** Of no use to whoever seeks, beyond this: hashes and keys. An index leaves longer words out. */
const MAX_WORD_CHARS = 40

/** Different words by which a text is found, the first ones: an index must not outgrow its texts. */
const MAX_WORDS = 512

/** A text that has not had so many different words by then repeats itself. */
const MAX_LOOKED_AT = 4_096

/** Each word that is sought is looked up on its own. */
const MAX_SOUGHT = 24

/** Within a phrase, shorter words mostly join others: "the", "and", "для". */
const TELLING = /.{4}/u

const hex = (digits: string): number => Number.parseInt(digits, 16)

/** The inside of a character class. */
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
  /** What lower case leaves to fold: letters with accents, and what joins. */
  const left = new RegExp(`[${JOINER}${[...folded.keys()].filter(isLower).join('')}]`, 'gu')
  return { folded, left }
}

/** The writer's thread loads this file, and most of its writes fold nothing. */
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

/** In their order, folded: without case, and without the accent that a Latin letter bears. */
export const wordsOf = (text: string): string[] => (text.match(WORD) ?? []).map(fold)

/**
 * Folded as words are and by every case that JavaScript knows. A character is folded whatever stands
 * beside it, so that a part of a text is folded to a part of the folded text.
 */
export function foldedCharacters(text: string): string {
  const { folded, left } = folding()
  // Upper case in between: it alone tells that ß and ẞ are ss, and a ligature its letters.
  const cased = text.toLowerCase().toUpperCase().toLowerCase()
  return cased.replace(left, (letter) => folded.get(letter) ?? '')
}

/**
 * The first of them. `matchAll` would copy the pattern for each text, and there may be thousands of
 * texts; so its place is set here, each time anew: another search may go on in between, or have
 * broken off.
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

/** What an index has to hold of a text: each word once, not too long and not too many. */
export function wordsToFind(text: string): string[] {
  const words = new Set<string>()
  for (const run of runsIn(text, MAX_LOOKED_AT)) {
    if (words.size === MAX_WORDS) break
    const word = fold(run)
    if (isShort(word)) words.add(word)
  }
  return [...words]
}

/** Of the phrase's first words. */
function tellingWords(phrase: string, most: number) {
  const words = runsIn(phrase, most).map(fold).toArray()
  const telling = words.filter((word) => TELLING.test(word))
  return { looked: words.length, words: telling.length > 0 ? telling : words }
}

/** What to look for: a bounded number of words, each bounded in length, of a bounded beginning. */
export function wordsSought(phrases: readonly string[]): string[] {
  const sought = new Set<string>()
  let looked = 0
  for (const phrase of phrases) {
    if (sought.size >= MAX_SOUGHT || looked >= MAX_LOOKED_AT) break
    const found = tellingWords(phrase, MAX_LOOKED_AT - looked)
    // A phrase without a word is looked at too.
    looked += Math.max(1, found.looked)
    for (const word of found.words) if (isShort(word)) sought.add(word)
  }
  return [...sought].slice(0, MAX_SOUGHT)
}
