/** The excerpt of a text that shows why it was found. */
import { lazily } from '../../lazily.ts'
import { composed, foldedText } from './fold.ts'

/** Code points, including the ellipses. */
export const SNIPPET_CHARS = 200

const BEFORE = 60
const ELLIPSIS = '…'

/** A snippet starts with a whole word if one starts this near. */
const WORD_CHARS = 24

/** Occurrences per term; more add nothing. */
const MOST_PLACES = 64

const LETTER_BEFORE = /[\p{L}\p{N}\p{M}]$/u
const LETTER_BEHIND = /^[\p{L}\p{N}\p{M}]/u

const graphemes = lazily(() => new Intl.Segmenter('und', { granularity: 'grapheme' }))

const isLow = (text: string, at: number): boolean => {
  const unit = text.charCodeAt(at)
  return unit >= 0xdc00 && unit <= 0xdfff
}

/** The offset so many code points away, or the end of the text. */
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

/** Folded on its own: a character and what may be composed with it. */
const FOLDED = /.[\p{M}ﾞﾟ]*/gsu

/** Folding changes the length of some characters; if it did, offsets are counted again in the text. */
function placeIn(text: string, folded: string, at: number): number {
  if (folded.length === text.length) return at
  let place = 0
  let left = at
  for (const [piece] of text.matchAll(FOLDED)) {
    left -= foldedText(piece).length
    if (left < 0) break
    place += piece.length
  }
  return place
}

interface Place {
  readonly at: number
  readonly term: string
  /** A whole word is better than the start of one, and that better than the middle. */
  readonly weight: number
}

function weightAt(folded: string, at: number, end: number): number {
  if (LETTER_BEFORE.test(folded.slice(Math.max(0, at - 2), at))) return 1
  return LETTER_BEHIND.test(folded.slice(end, end + 2)) ? 2 : 3
}

function placesOf(term: string, folded: string): Place[] {
  const places: Place[] = []
  for (let at = folded.indexOf(term); at >= 0; at = folded.indexOf(term, at + term.length)) {
    if (places.length === MOST_PLACES) break
    places.push({ at, term, weight: weightAt(folded, at, at + term.length) })
  }
  return places
}

/** Where most of the terms are close together; undefined without any. */
function bestPlace(text: string, terms: readonly string[]): number | undefined {
  const folded = foldedText(text)
  const places = terms.flatMap((term) => placesOf(term, folded)).toSorted((a, b) => a.at - b.at)
  let best: { at: number; weight: number } | undefined
  for (const [first, { at }] of places.entries()) {
    const near = new Map<string, number>()
    for (const { term, weight, at: place } of places.slice(first, first + MOST_PLACES)) {
      if (place >= at + SNIPPET_CHARS - BEFORE) break
      near.set(term, Math.max(weight, near.get(term) ?? 0))
    }
    const weight = near.values().reduce((sum, each) => sum + each, 0)
    if (!best || weight > best.weight) best = { at, weight }
  }
  return best && placeIn(text, folded, best.at)
}

/** Moves the start to the next word if that is near. */
function startOfWord(text: string, start: number, place: number): number {
  if (start === 0) return 0
  const space = text.slice(start, Math.min(place, start + WORD_CHARS)).search(/\s\S/u)
  return space < 0 ? start : start + space + 1
}

/** Cuts only between grapheme clusters, so the piece may be shorter or even empty. */
function cut(text: string, start: number, end: number): string {
  const segments = graphemes().segment(text)
  const first = segments.containing(start)
  const from = !first || first.index === start ? start : first.index + first.segment.length
  const to = segments.containing(end)?.index ?? text.length
  if (from >= to) return ''
  return (from > 0 ? ELLIPSIS : '') + text.slice(from, to) + (to < text.length ? ELLIPSIS : '')
}

function around(text: string, place: number): string {
  const start = startOfWord(text, moved(text, place, -BEFORE), place)
  return cut(text, start, moved(text, start, SNIPPET_CHARS - 2 * ELLIPSIS.length))
}

/** UTF-16 units that have a beginning's code points, however they are composed. */
const BEGINNING = 4 * SNIPPET_CHARS

/** The beginning of a text that is longer. */
export const beginningOf = (text: string): string => around(composed(text.slice(0, BEGINNING)), 0)

/**
 * From the text, or else the metadata, in composed form; if nothing matches, the start of the text.
 */
export function snippetOf(
  { text, metadata }: { readonly text: string; readonly metadata: string },
  terms: readonly string[],
): string {
  for (const shown of [composed(text), composed(metadata)]) {
    const place = bestPlace(shown, terms)
    if (place !== undefined) return around(shown, place)
  }
  return around(composed(text), 0)
}
