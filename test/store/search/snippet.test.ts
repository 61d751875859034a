/** What a snippet shows, and that it is never long and never cut within a character. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { beginningOf, SNIPPET_CHARS, snippetOf } from '../../../src/store/search/snippet.ts'
import { tokensOf } from '../../../src/store/search/tokens.ts'
import { anyText } from '../engine-words.ts'

const snippet = (query: string, text: string, metadata = '{}'): string =>
  snippetOf({ text, metadata }, tokensOf(query))

const filler = 'lorem ipsum '.repeat(50)

test('it is the whole of a short text', () => {
  expect(snippet('plan', 'the plan')).toBe('the plan')
})

test('it is around the match, from a word on', () => {
  const shown = snippet('needle', `${filler}a needle here ${filler}`)
  expect(shown).toMatch(/^…(lorem|ipsum) .*a needle here .*…$/)
  expect([...shown]).toHaveLength(SNIPPET_CHARS)
})

test('it is around a whole word before a part of one', () => {
  expect(snippet('plan', `planning ${filler} a plan ${filler}`)).toContain(' a plan ')
})

test('it is where the words are near each other', () => {
  const text = `alpha ${filler} beta ${filler} beta beside gamma ${filler}`
  expect(snippet('gamma beta', `alpha ${filler} gamma beside beta ${filler}`)).toContain('beside')
  expect(snippet('alpha', text)).toMatch(/^alpha/)
})

test('it is of the metadata where the match is there, else how the text begins', () => {
  expect(snippet('urgent', 'text', '{"tag":"urgent"}')).toBe('{"tag":"urgent"}')
  expect(snippet('key', `begin ${filler}`)).toMatch(/^begin .*…$/)
})

test.each(['ﾌﾟ', '㌔', 'Ａ\u0301', 'ﬃ'])(
  'it finds its place where %s becomes shorter or longer',
  (each) => {
    const text = `${each.repeat(300)} needle ${filler}`
    expect(snippet('needle', text)).toContain(' needle ')
  },
)

test('a character that is longer than a snippet is left out whole', () => {
  expect(snippet('\u1112', '\u1112'.repeat(400))).toBe('')
})

test('of very many marks on a letter some are left', () => {
  expect(snippet('z', `z${'\u0301\u0316'.repeat(400)}`)).toMatch(/^(?:ź|z)\p{M}{28,30}$/u)
})

test('the beginning of a text is what a snippet without terms shows', () => {
  const text = `${'Tiếng Việt được '.repeat(20)}and more`
  expect(beginningOf(text.normalize('NFD'))).toBe(snippetOf({ text, metadata: '{}' }, []))
})

const clusters = fc.constantFrom('👩‍👩‍👧‍👦', '🇺🇦', 'e\u0323\u0301', '\r\n', '한', 'ที่', '𝒳')
const texts = fc.array(fc.oneof({ weight: 3, arbitrary: anyText }, clusters), { maxLength: 40 })

const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' })

/** Where a text may be cut. */
const edgesOf = (text: string): ReadonlySet<number> =>
  new Set([text.length, ...Array.from(graphemes.segment(text), ({ index }) => index)])

test('it is short, of the text, and cut between characters alone', () => {
  fc.assert(
    fc.property(texts, anyText, (parts, query) => {
      fc.pre(query.trim() !== '')
      const text = parts.join('').replaceAll('…', '') || 'x'
      const composed = text.normalize()
      const shown = snippet(query, text, '')
      expect([...shown].length).toBeLessThanOrEqual(SNIPPET_CHARS)
      expect(shown.isWellFormed()).toBe(text.isWellFormed())
      const piece = shown.replaceAll('…', '')
      const edges = edgesOf(composed)
      const starts = [...edges].filter((at) => composed.startsWith(piece, at))
      expect(starts.some((at) => edges.has(at + piece.length))).toBe(true)
      expect(shown.startsWith('…') || composed.startsWith(piece)).toBe(true)
      expect(shown.endsWith('…') || composed.endsWith(piece)).toBe(true)
    }),
    { numRuns: 500 },
  )
})
