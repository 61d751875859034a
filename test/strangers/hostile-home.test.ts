/** Whatever a home is filled with and asked for, others are answered meanwhile, and it has an end. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type HomeIndex, HomeIndex as Index } from '../../src/store/search/home-index.ts'
import { rank } from '../../src/store/search/rank.ts'
import { required } from '../../src/store/search/required.ts'
import { parseQuery } from '../../src/store/search/tokens.ts'
import { type Counted, openCounted } from '../counted.ts'
import { promised } from '../effort.ts'
import { growth, NOT_QUADRATIC } from '../growth.ts'
import type { Kind } from './hostile-home.ts'

type HostileHome = typeof import('./hostile-home.ts')

let home: Counted<HostileHome>
beforeAll(() => {
  home = openCounted<HostileHome>(import.meta.resolve('./hostile-home.ts'))
})
afterAll(() => home.close())

const letters = [...'abcdefghijklmnopqrstuvwxyz']
const many = (of: (letter: string, at: number) => string, count = 80) =>
  Array.from({ length: count }, (_, at) => of(letters[at % 26] ?? '', at))
    .join(' ')
    .slice(0, 500)

/** Steps of one turn, and of the whole question: a step is some ten nanoseconds. */
const TURN = 250_000
const QUESTION = 24_000_000

/** As long as a question may be. */
const long = (of: (n: number) => string): string => {
  let text = ''
  for (let n = 0; Buffer.byteLength(text) < 16_300; n++) text += `${of(n)} `
  return text
}

const inLetters = (n: number): string =>
  n.toString(26).replaceAll(/./g, (digit) => letters[Number.parseInt(digit, 26)] ?? '')

const kinds: readonly (readonly [Kind, number])[] = [
  ['alike', 600],
  ['endingAlike', 600],
  ['matching', 3_000],
  ['repeating', 100],
  ['apart', 100],
  ['long', 300],
  ['paired', 300],
]

const questions: readonly (readonly [what: string, q: string])[] = [
  [
    'many words',
    many((letter, at) => `same${letter}${at}`.replace(/\d/g, (d) => letters[Number(d)] ?? '')),
  ],
  ['many misspellings', many((letter, at) => `s${letter}me${letters[at % 7]}${letter}`)],
  ['single letters', letters.join(' ')],
  ['repeated words in quotes', `"${'a '.repeat(240)}"`],
  ['many phrases', many((letter) => `"${letter} a"`)],
  ['a beginning', 'same'],
  ['one character of a script without spaces', '"人"'],
  ['many of them', '人'.repeat(500)],
  ['16 KiB of misspellings', long((n) => `same${inLetters(n)}e`)],
  ['16 KiB of short words', long(inLetters)],
  ['16 KiB of days', long((n) => `${(n % 28) + 1} March ${1_000 + n}`)],
  ['16 KiB of characters of such a script', long((n) => String.fromCharCode(0x4e00 + n))],
]

describe.each(kinds.map((row, n) => [...row, n] as const))(
  'a home with memories that are %s',
  (kind, memories, n) => {
    beforeAll(() => home.ask('fill', kind, memories))

    test.each(promised(questions, n))('is asked for %s', async (_, q) => {
      for (const all of [false, true]) {
        const { steps, whole } = await home.longestTurn(
          async () => void (await home.ask('ask', q, all)),
        )
        expect(whole).toBeGreaterThan(0)
        expect(whole).toBeLessThan(QUESTION)
        expect(steps).toBeLessThan(TURN)
      }
    })
  },
)

/** Of memories that all have the text. */
function indexOf(memories: number, text: string, of: HomeIndex = new Index()): HomeIndex {
  for (let n = 0; n < memories; n++)
    of.put({ key: `k${n}`, text, metadata: '{}', version: 1, createdAt: 0, updatedAt: n })
  return of
}

const found = async (index: HomeIndex, q: string, turn = async () => {}) =>
  (await rank(index, { q, all: false, isWanted: () => true }, turn)).docs.length

test('a phrase is looked for in each memory once', async () => {
  const [small, large] = [indexOf(100, 'a '.repeat(8_000)), indexOf(400, 'a '.repeat(8_000))]
  const turn = async () => {}
  const look = async (index: HomeIndex) =>
    required(
      index,
      { phrases: [['a', 'a']], groups: [] },
      { terms: await index.terms(turn), isAccented: false, allowance: { looks: 0 }, turn },
    )
  const times = await growth(
    () => look(small),
    () => look(large),
  )
  expect(times).toBeLessThan(NOT_QUADRATIC)
})

test('a token that is in quotes again and again is looked for a few times', () => {
  expect(parseQuery(`"a b ${'a '.repeat(100)}" "a c" "b c"`, false).phrases).toEqual([
    ['a', 'b', 'a', 'a', 'a'],
    ['b', 'c'],
  ])
})

test('a query looks up some thousand terms, each word itself first', async () => {
  const asked = new Set<string>()
  class Watched extends Index {
    override visit(...visit: Parameters<HomeIndex['visit']>) {
      for (const term of visit[0]) asked.add(term)
      return super.visit(...visit)
    }
  }
  const terms = letters.flatMap((a) => letters.flatMap((b) => letters.map((c) => a + b + c)))
  const index = indexOf(1, terms.join(' '), new Watched())
  await rank(index, { q: letters.join(' '), all: true, isWanted: () => true }, async () => {})
  expect(asked.size).toBeLessThan(4_100)
  for (const letter of letters) expect(asked).toContain(letter)
})

test('what is longer than a word is found, and not compared with any', async () => {
  const long = 'same'.repeat(1_000)
  const index = indexOf(1, `${long} same`)
  expect((await index.terms(async () => {})).sorted).toEqual(['k0', 'same'])
  expect(await found(index, long)).toBe(1)
})

test('a memory that is rewritten while a search goes on is found', async () => {
  const index = indexOf(3, 'apple')
  const rewrite = async () => void indexOf(3, 'an apple', index)
  expect(await found(index, 'apple', rewrite)).toBe(3)
})

test('a misspelling is compared with all words that begin alike, not with the first', async () => {
  const index = indexOf(1, letters.flatMap((a) => letters.map((b) => `ma${a}${b}ers`)).join(' '))
  index.put({
    key: 'meant',
    text: 'mortgage',
    metadata: '{}',
    version: 1,
    createdAt: 0,
    updatedAt: 0,
  })
  expect(await found(index, 'mortgaeg')).toBe(1)
})

test('what is in quotes is a word, not a beginning', async () => {
  const index = indexOf(1, 'apple')
  expect(await found(index, '"a"')).toBe(0)
})
