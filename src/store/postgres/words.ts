/** The words of a text as the embedded engine sees them, in PostgreSQL's own text search. */

/** Case does not matter, nor do the accents of Latin letters; a word is letters and digits. */
const wordsOf = (text: string): string[] =>
  text
    .normalize('NFD')
    .replace(/(\p{Script=Latin})\p{M}+/gu, '$1')
    .normalize('NFC')
    .toLowerCase()
    .match(/[\p{L}\p{N}\p{M}\p{Co}]+/gu) ?? []

/** For `to_tsvector('simple', …)`: nothing is left in it that its parser could read otherwise. */
export const plainWords = (text: string): string => wordsOf(text).join(' ')

/** A tsquery that matches any of the phrases; undefined where they hold no word. */
export function anyPhrase(phrases: readonly string[]): string | undefined {
  const parts = phrases
    .map(wordsOf)
    .filter((words) => words.length > 0)
    .map((words) => `(${words.map((word) => `'${word}'`).join(' <-> ')})`)
  return parts.length > 0 ? parts.join(' | ') : undefined
}
