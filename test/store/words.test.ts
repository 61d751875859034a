/** Our words are the embedded engine's, of every character there is and however they are joined. */
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { isStopWord } from '../../src/store/search/stop-words.ts'
import { wordsSought as sought, wordsOf, wordsToFind } from '../../src/store/words.ts'
import { openCounted } from '../counted.ts'
import { timesPromised } from '../effort.ts'
import { growth, NOT_QUADRATIC } from '../growth.ts'
import { dice } from '../seed.ts'
import { anyText, engineWords } from './engine-words.ts'

const wordsSought = (phrases: readonly string[]) => sought(phrases, isStopWord)

const words = openCounted<typeof import('../../src/store/words.ts')>(
  import.meta.resolve('../../src/store/words.ts'),
)
afterAll(() => words.close())

const texts = fc.array(anyText, { minLength: 1, maxLength: 20 })

const runs = { numRuns: timesPromised(500) }

/** Of the planes that are empty or private, one in so many. */
const STRIDE = 251

/** Of the others all; a short run asks of some, by chance. */
const roll = dice()

const isChosen = (): boolean => roll(1_000) < timesPromised(1_000)

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
  ['one letter each', ['x\u0e31b\u20ddc'], ['x', 'b', 'c']],
  ['words that tell something', ['the weight of Mémory'], ['weight', 'memory']],
  ['short words where there are no others', ['tea and rum', 'oak'], ['tea', 'rum', 'oak']],
  ['letters, not their accents', ['e\u0301te\u0301'], ['ete']],
  ['each word once', ['echo', 'ECHO echo'], ['echo']],
  ['nothing', ['— … 🌱', ''], []],
  ['no stop word, even alone', ['and', 'what with that', 'ЩО', 'für'], []],
])('what is sought is %s', (_, phrases, words) => {
  expect(wordsSought(phrases)).toEqual(words)
})

test('however much is sought, few words are looked for, and none is long', () => {
  const long = 'x'.repeat(41)
  const many = Array.from({ length: 500 }, (_, i) => `word${i}`)
  expect(wordsSought([long, ...many])).toEqual(many.slice(0, 24))
  expect(wordsToFind(`${long} ${'y'.repeat(40)}`)).toEqual(['y'.repeat(40)])
})

test('what is sought after a text of very many words is found from its beginning', () => {
  wordsToFind(Array.from({ length: 600 }, (_, i) => `word${i}`).join(' '))
  expect(wordsSought(['first and last'])).toEqual(['first', 'last'])
})

test('of what is sought no more is looked at than can be looked for', () => {
  const lookedAt = (count: number) => {
    let looked = 0
    const phrases = new Proxy(Array<string>(count).fill('— …'), {
      get(target, name) {
        if (typeof name === 'string' && /^\d+$/.test(name)) looked++
        return Reflect.get(target, name)
      },
    })
    wordsSought(phrases)
    return looked
  }
  expect([lookedAt(100), lookedAt(8_000), lookedAt(16_000)]).toEqual([100, 4_097, 4_097])
  expect(wordsSought([`${'it '.repeat(4_095)}last ${'more '.repeat(9_000)}`])).toEqual(['last'])
})

test.each([
  ['a word', 'word '],
  ['nothing', '— '.repeat(8)],
])('%s is sought of many phrases about as fast as of one', async (_, part) => {
  const phrases = Array<string>(4_096).fill(part)
  const grown = await growth(
    () => wordsSought([phrases.join('')]),
    () => wordsSought(phrases),
  )
  expect(grown).toBeLessThan(NOT_QUADRATIC)
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
  const of = (bytes: number) => part.repeat(bytes / Buffer.byteLength(part))
  const [small, large] = [of(16_384), of(65_536)]
  // No more than so many words are looked at, each of them folded.
  expect(await words.steps('wordsToFind', large)).toBeLessThan(20 * 4_096)
  const grown = await growth(
    () => wordsToFind(small),
    () => wordsToFind(large),
  )
  expect(grown).toBeLessThan(NOT_QUADRATIC)
})

test.each(['\u0e31', '\u20dd', ' ', '-'])(
  'letters joined by %j are filed and sought as few words, each of them one to the engine',
  (joint) => {
    const joined = (length: number) => Array.from({ length }, (_, i) => 'ab'[i % 2]).join(joint)
    const filed = wordsToFind(joined(65_536 / (1 + Buffer.byteLength(joint))))
    const few = wordsSought(Array.from({ length: 16 }, (_, i) => `${joined(15 + i)}${joint}b`))
    expect(filed.length).toBeLessThanOrEqual(2)
    expect(few.length).toBeLessThanOrEqual(24)
    // A phrase of many is looked for in all places of each.
    expect([...filed, ...few].filter((word) => engineWords(word).length > 1)).toEqual([])
  },
)
