/** Texts are folded, and parted into words, as their characters are, however quickly. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { foldedText, thoroughlyFolded as slowly } from '../../../src/store/search/fold.ts'
import { spellingOf, thoroughlySpelled } from '../../../src/store/search/spelling.ts'
import { indexable, thoroughlyIndexable, tokensOf } from '../../../src/store/search/tokens.ts'
import { timesPromised } from '../../effort.ts'
import { anyText } from '../engine-words.ts'

/** What is not assigned folds to itself: every 61st of it is enough. */
const characters = Array.from({ length: 0x110000 }, (_, c) => String.fromCodePoint(c)).filter(
  (character, c) => c % 61 === 0 || /[\p{Assigned}--\p{Co}]/v.test(character),
)

test.each([
  ['by itself', ''],
  ['beside another', 'ж'],
])('every character is folded %s', (_, beside) => {
  const differing = characters.filter((c) => foldedText(beside + c) !== slowly(beside + c))
  expect(differing).toEqual([])
})

/** Whatever may be composed of two. */
const joining = fc.constantFrom(
  '\u0301',
  '\u0323',
  '\u3099',
  '\u09be',
  '\u1161',
  '\u11a8',
  '\u0338',
  'ﾞ',
  '\uffa1',
  '\uffc2',
  '\u064e',
)

test('a text is folded as its characters are', () => {
  const texts = fc.array(fc.oneof({ weight: 3, arbitrary: anyText }, joining), { maxLength: 6 })
  fc.assert(
    fc.property(texts, (parts) => {
      const text = parts.join('')
      expect(foldedText(text)).toBe(slowly(text))
    }),
    { numRuns: timesPromised(2_000) },
  )
})

test('a text has one spelling, however quickly it is made', () => {
  const differing = characters.filter((c) => {
    const term = `ж${foldedText(c)}`
    return spellingOf(term) !== thoroughlySpelled(term)
  })
  expect(differing).toEqual([])
  const texts = fc.array(fc.oneof({ weight: 3, arbitrary: anyText }, joining), { maxLength: 6 })
  fc.assert(
    fc.property(texts, (parts) => {
      const term = `ж${foldedText(parts.join(''))}`
      expect(spellingOf(term)).toBe(thoroughlySpelled(term))
    }),
    { numRuns: timesPromised(2_000) },
  )
})

test('what folding makes is folded', () => {
  const differing = characters.filter((c) => foldedText(foldedText(c)) !== foldedText(c))
  expect(differing).toEqual([])
})

test.each(['Ж', 'É', 'e\u0301', 'x\u0301', '🌱', '𐐀', '한'])('so are long texts of %s', (part) => {
  for (const length of [32_767, 32_768, 32_769, 70_000]) {
    const text = part.repeat(length).slice(0, length)
    expect(foldedText(text)).toBe(slowly(text))
  }
})

const wordsIn = (text: string) => text.toLowerCase().match(/[a-z0-9\u0080-\u{10ffff}]+/gu)
const quickly = (text: string) => wordsIn(indexable(text))
const thoroughly = (text: string) => wordsIn(thoroughlyIndexable(text))

test.each([
  ['within a Latin word', 'x', 'y'],
  ['within a Cyrillic word', 'ж', 'я'],
  ['before an Arabic word', '', 'الكتاب'],
])('every character parts words, or does not, %s', (_, before, after) => {
  // Beyond the first two planes all is looked at in one way.
  const inThem = characters.filter((c) => (c.codePointAt(0) ?? 0) < 0x20000)
  const differing = inThem.filter((c) => {
    const text = before + c + after
    return quickly(text)?.join(' ') !== thoroughly(text)?.join(' ')
  })
  expect(differing).toEqual([])
})

test('a text has the words that its characters make', () => {
  const texts = fc.array(fc.oneof({ weight: 3, arbitrary: anyText }, joining), { maxLength: 6 })
  fc.assert(
    fc.property(texts, (parts) => {
      const text = parts.join('')
      expect(quickly(text)).toEqual(thoroughly(text))
    }),
    { numRuns: timesPromised(2_000) },
  )
})

test('marks in a run are bounded, because normalizing takes the square of it', () => {
  for (const text of [`x${'\u0316\u0300'.repeat(8_000)}`, `é${'\u0300\u0316'.repeat(8_000)}`]) {
    expect(foldedText(text).length).toBeLessThanOrEqual(32)
    expect(tokensOf(text)[0]?.length).toBeLessThanOrEqual(32)
  }
  expect(foldedText(`x${'\u0316'.repeat(30)}`)).toHaveLength(31)
})
