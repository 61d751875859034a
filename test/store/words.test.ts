/** Our words are the embedded engine's, of every character there is and however they are joined. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { wordsOf, wordsSought, wordsToFind } from '../../src/store/words.ts'
import { times } from '../effort.ts'
import { leastWork } from '../http/longest-wait.ts'
import { anyText, engineWords } from './engine-words.ts'

const seed = Number(process.env.WORDS_SEED ?? Date.now() % 2 ** 31)
console.info(`words: WORDS_SEED=${seed}`)

const texts = fc.array(anyText, { minLength: 1, maxLength: 20 })

const runs = { seed, numRuns: times(500) }

/** Of the planes that are empty or private, one in so many. */
const STRIDE = 251

/** Of the others all; a short run asks of some, by chance. */
const isChosen = (): boolean => Math.random() < times(1_000) / 1_000

const isAssigned = (c: number): boolean =>
  c < 0xd800 || (c > 0xdfff && c < 0x40000) || c >> 16 === 0xe

const isAsked = (c: number): boolean => (isAssigned(c) ? isChosen() : c % STRIDE === 0)

test('every character parts words, joins them, or is folded, as the engine has it', () => {
  const inWords = Array.from({ length: 0x10ffff }, (_, i) => i + 1)
    .filter(isAsked)
    .map((c) => `q${String.fromCodePoint(c)}q`)
  const theirs = engineWords(inWords)
  const differing = inWords.flatMap((word, i) =>
    wordsOf(word).join(' ') === theirs[i]?.join(' ') ? [] : [{ word, engine: theirs[i] }],
  )
  expect(differing).toEqual([])
})

test('the words of any text are the engine’s, in their order', () => {
  fc.assert(
    fc.property(texts, (some) => {
      expect(some.map(wordsOf)).toEqual(engineWords(some))
    }),
    runs,
  )
})

test('a word that is sought is one word to the engine, and the same', () => {
  fc.assert(
    fc.property(texts, (phrases) => {
      const words = wordsSought(phrases)
      expect(engineWords(words)).toEqual(words.map((word) => [word]))
    }),
    runs,
  )
})

test('whatever is sought of a text is among what an index of it holds', () => {
  fc.assert(
    fc.property(anyText, (phrase) => {
      expect(wordsToFind(phrase)).toEqual(expect.arrayContaining(wordsSought([phrase])))
    }),
    runs,
  )
})

test.each([
  ['one letter each', ['a\u0e31b\u20ddc'], ['a', 'b', 'c']],
  ['words that tell something', ['the weight of Mémory'], ['weight', 'memory']],
  ['short words where there are no others', ['tea and rum', 'und'], ['tea', 'and', 'rum', 'und']],
  ['letters, not their accents', ['e\u0301te\u0301 la'], ['ete', 'la']],
  ['each word once', ['echo', 'ECHO echo'], ['echo']],
  ['nothing', ['— … 🌱', ''], []],
])('what is sought is %s', (_, phrases, words) => {
  expect(wordsSought(phrases)).toEqual(words)
})

test('however much is sought, few words are looked for, and none is long', () => {
  const long = 'x'.repeat(41)
  const many = Array.from({ length: 500 }, (_, i) => `word${i}`)
  expect(wordsSought([long, ...many])).toEqual(many.slice(0, 24))
  expect(wordsToFind(`${long} ${'y'.repeat(40)}`)).toEqual(['y'.repeat(40)])
})

test('an index of a text holds its first words, however many it has', () => {
  const many = Array.from({ length: 1_000 }, (_, i) => `word${i}`)
  expect(wordsToFind([...many, ...many].join(' '))).toEqual(many.slice(0, 512))
})

test.each([
  ['letters', 'x '],
  ['letters to be folded', 'É '],
  ['letters that are joined', 'a\u0e31'],
  ['words too long', `${'z'.repeat(41)} `],
])('%s over and over keep nobody from writing', async (_, part) => {
  const text = part.repeat(65_536 / Buffer.byteLength(part))
  expect(await leastWork(5, () => wordsToFind(text))).toBeLessThan(5)
})
