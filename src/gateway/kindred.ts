/** What somebody seeks, as words to look for. */

const WORD = /[\p{L}\p{N}\p{M}]+/gu

const MAX_WORDS = 24
const MAX_WORD_CHARS = 64

/** Within a phrase, shorter words mostly join others: "the", "and", "для". */
const MIN_CHARS_IN_PHRASE = 4

function wordsOf(phrase: string): string[] {
  const words = phrase.toLowerCase().match(WORD) ?? []
  const telling = words.filter((word) => word.length >= MIN_CHARS_IN_PHRASE)
  return words.length > 1 && telling.length > 0 ? telling : words
}

export const wordsSought = (seeking: readonly string[]): string[] =>
  [...new Set(seeking.flatMap(wordsOf))]
    .filter((word) => word.length <= MAX_WORD_CHARS)
    .slice(0, MAX_WORDS)
