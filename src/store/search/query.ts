/** What is sought: the words of a query. */
import { foldedText } from './fold.ts'

export interface Sought {
  /** Folded, each once: every one of them must be there. None where nothing but accents is sought. */
  readonly words: readonly string[]
  /** As it was written, without the space around it. */
  readonly written: string
}

/** Marks belong to their letter: without them the words of many scripts would fall apart. */
const WORD = /[\p{L}\p{N}\p{M}]+/gu

/** What matches and what is shown, in one spelling: accents composed. */
export const composed = (text: string): string => text.normalize('NFC')

export function soughtOf(query: string): Sought {
  const written = query.trim()
  const text = composed(written)
  const words = (text.match(WORD) ?? []).map(foldedText).filter((word) => word !== '')
  // An emoji or an arrow is sought as it stands.
  const sought = words.length > 0 ? words : [foldedText(text).trim()].filter((sign) => sign !== '')
  return { words: [...new Set(sought)], written }
}
