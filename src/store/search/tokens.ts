/** Tokenizers for texts and queries. */
import { foldedText, foldedWords, isAscii, WITHOUT_SPACES } from './fold.ts'

/** Each pair of characters is a token. */
const UNSPACED = new RegExp(`[${WITHOUT_SPACES}]+`, 'gu')

/** A quick test for them; most texts have none. */
const MAY_BE_UNSPACED =
  /[\u0e00-\u0eff\u1000-\u11ff\u1780-\u17ff\u3005-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc\u{16ff0}-\u{3ffff}]/u

/** Neither ASCII, which the lexicon splits, nor letters, digits, marks or symbols. */
const BETWEEN = /[^\p{L}\p{N}\p{M}\p{Co}\p{So}\p{Sm}\p{Sc}\0-\x7f]+/gu

/** Each is a word; variation selectors of emoji are ignored. */
const SYMBOL = /[^\P{S}\0-\x7f]\ufe0f?/gu

/** An apostrophe within a Ukrainian word, in any spelling, does not separate. */
const APOSTROPHE = /(?<=\p{Script=Cyrillic})['`’ʼ](?=\p{Script=Cyrillic})/gu

const ARABIC = /[\u0600-\u06ff]/

/** Vowel signs and the like, and what makes a word wider. */
const SIGNS = String.raw`[\u0640\u064b-\u0655\u0670]*`

/** The Arabic article, with its prefixes. */
const ARTICLE = new RegExp(
  String.raw`(?<![\p{L}\p{M}])(?:(?:[وفبك]${SIGNS})?[اأإآٱ]${SIGNS}ل|ل${SIGNS}ل)${SIGNS}(?=(?:\p{Script=Arabic}${SIGNS}){3})`,
  'gu',
)

const TOKEN = /[a-z0-9\u0080-\u{10ffff}]+/gu

/** Each pair, and the last character, so that every character starts a token. */
function pairs(run: string): string {
  const characters = [...run]
  return ` ${characters.map((character, at) => character + (characters[at + 1] ?? '')).join(' ')} `
}

/**
 * The text as it is indexed: folded, with words separated by ASCII that is neither letter nor
 * digit. ASCII is left for the index to fold.
 */
export const indexable = (text: string): string =>
  isAscii(text) ? text : (quicklyIndexable(text) ?? thoroughlyIndexable(text))

/** Letters and separators; most texts have nothing else. */
const quicklyIndexable = (text: string): string | undefined =>
  foldedWords(text)?.replace(APOSTROPHE, '')

export function thoroughlyIndexable(text: string): string {
  const folded = foldedText(text)
    .replace(APOSTROPHE, '')
    .replace(BETWEEN, ' ')
    .replace(SYMBOL, (symbol) => ` ${symbol.replace('\ufe0f', '')} `)
  const apart = MAY_BE_UNSPACED.test(folded) ? folded.replace(UNSPACED, pairs) : folded
  return ARABIC.test(apart) ? apart.replace(ARTICLE, '') : apart
}

/** The words of a text in order, as the index has them. */
export const tokensOf = (text: string): readonly string[] =>
  indexable(text).toLowerCase().match(TOKEN) ?? []

export const isUnspaced = (token: string): boolean => {
  UNSPACED.lastIndex = 0
  return UNSPACED.test(token)
}

export interface Query {
  /** Its words, and how the index has them. */
  readonly written: readonly { readonly word: string; readonly tokens: readonly string[] }[]
  /** Each once. */
  readonly words: readonly string[]
  /** Words that must be adjacent. */
  readonly phrases: readonly (readonly string[])[]
}

/** A word as people see it, without separators. */
const WORD = /[\p{L}\p{N}\p{M}\p{Co}'`’ʼ]+|[^\P{S}\0-\x7f]\ufe0f?/gu

/** The last character of a run starts no pair; alone it is looked up as the start of pairs. */
const soughtIn = (written: string): readonly string[] => {
  const tokens = tokensOf(written)
  return tokens.length > 1 && isUnspaced(tokens.at(-1) ?? '') ? tokens.slice(0, -1) : tokens
}

const QUOTED = /"([^"]+)"|“([^“”]+)”|„([^„“”]+)[“”]|«([^«»]+)»/gu

/** A phrase ends at a repeated token, since a home could consist of nothing else. */
const MOST_REPEATED = 4

function cut(phrases: readonly (readonly string[])[]): readonly (readonly string[])[] {
  const times = new Map<string, number>()
  const isTooMuch = (token: string): boolean => {
    times.set(token, (times.get(token) ?? 0) + 1)
    return (times.get(token) ?? 0) > MOST_REPEATED
  }
  return phrases
    .map((tokens) => {
      const end = tokens.findIndex(isTooMuch)
      return end < 0 ? tokens : tokens.slice(0, end)
    })
    .filter(({ length }) => length > 0)
}

/** `all`: runs without spaces are phrases, because their pairs alone say less. */
export function parseQuery(q: string, all: boolean): Query {
  const folded = foldedText(q)
  const written = (folded.match(WORD) ?? []).map((word) => ({ word, tokens: soughtIn(word) }))
  const words = new Set(written.flatMap(({ tokens }) => tokens))
  const quoted = [...folded.matchAll(QUOTED)].map(([, ...groups]) => groups.find(Boolean) ?? '')
  const runs = all ? (folded.match(UNSPACED) ?? []) : []
  return { written, words: [...words], phrases: cut([...quoted, ...runs].map(soughtIn)) }
}
