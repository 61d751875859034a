/** The piece of a text that shows why it was found. */
import { lazily } from '../../lazily.ts'
import { foldedText } from './fold.ts'
import { occurrencesOf } from './match.ts'
import { composed, type Sought } from './query.ts'

/** Code points, the ellipses included. */
export const SNIPPET_CHARS = 200

const BEFORE = 60
const ELLIPSIS = '…'

/** A snippet begins with a whole word where one begins this near. */
const WORD_CHARS = 24

const graphemes = lazily(() => new Intl.Segmenter('und', { granularity: 'grapheme' }))

const isLow = (text: string, at: number): boolean => {
  const unit = text.charCodeAt(at)
  return unit >= 0xdc00 && unit <= 0xdfff
}

/** The place so many code points away, or the end of the text. */
function moved(text: string, from: number, by: number): number {
  let at = from
  const step = Math.sign(by)
  for (let n = 0; n !== by; n += step) {
    at += step
    if (at <= 0 || at >= text.length) return Math.max(0, Math.min(at, text.length))
    if (isLow(text, at)) at += step
  }
  return at
}

/** Folding leaves out what joins; where it did, its places are counted anew in the text. */
function placeIn(text: string, folded: string, at: number): number {
  if (folded.length === text.length) return at
  let place = 0
  let left = at
  for (const character of text) {
    left -= foldedText(character).length
    if (left < 0) break
    place += character.length
  }
  return place
}

/** Where most of the words are near each other, whole ones before parts; undefined without any. */
function bestPlace(text: string, words: readonly string[]): number | undefined {
  const folded = foldedText(text)
  const found = words.flatMap((word) => occurrencesOf(word, folded) ?? [])
  const near = (from: number) =>
    found
      .filter(({ first }) => first >= from && first < from + SNIPPET_CHARS - BEFORE)
      .reduce((sum, { whole }) => sum + (whole > 0 ? 2 : 1), 0)
  const [best] = found
    .map(({ first }) => ({ first, weight: near(first) }))
    .toSorted((a, b) => b.weight - a.weight || a.first - b.first)
  return best && placeIn(text, folded, best.first)
}

/** Moves a start to the word that begins after it, if that is not far. */
function atWord(text: string, start: number, place: number): number {
  if (start === 0) return 0
  const space = text.slice(start, Math.min(place, start + WORD_CHARS)).search(/\s\S/u)
  return space < 0 ? start : start + space + 1
}

/** Cuts only between characters as people see them, so the piece may be shorter, and even empty. */
function cut(text: string, start: number, end: number): string {
  const segments = graphemes().segment(text)
  const first = segments.containing(start)
  const from = !first || first.index === start ? start : first.index + first.segment.length
  const to = segments.containing(end)?.index ?? text.length
  if (from >= to) return ''
  return (from > 0 ? ELLIPSIS : '') + text.slice(from, to) + (to < text.length ? ELLIPSIS : '')
}

function around(text: string, place: number): string {
  const start = atWord(text, moved(text, place, -BEFORE), place)
  return cut(text, start, moved(text, start, SNIPPET_CHARS - 2 * ELLIPSIS.length))
}

/** Of the text, else of the metadata, in composed form; else how the text begins. */
export function snippetOf(
  { text, metadata }: { readonly text: string; readonly metadata: string },
  { words }: Sought,
): string {
  for (const shown of [composed(text), composed(metadata)]) {
    const place = bestPlace(shown, words)
    if (place !== undefined) return around(shown, place)
  }
  return around(composed(text), 0)
}
