/** Terms and their numbers, and what becomes of an index whose memories are written again and again. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { HomeIndex } from '../../../src/store/search/home-index.ts'
import { Lexicon, NO_TERM } from '../../../src/store/search/lexicon.ts'
import { tokensOf } from '../../../src/store/search/tokens.ts'
import { embedded } from '../../harness.ts'
import { anyText } from '../engine-words.ts'
import { openFixture } from '../fixture.ts'
import { openIndexes, sourceOf } from './indexed.ts'

const namesOf = (lexicon: Lexicon, tokens: Int32Array): string[] =>
  [...tokens].filter((term) => term !== NO_TERM).map((term) => lexicon.nameOf(term))

test('each term of any text has one number, and keeps it', () => {
  const lexicon = new Lexicon()
  const isKept = (text: string): void => {
    // What is indexed has no character that a tokenizer could split otherwise.
    const words = tokensOf(text)
    const tokens = lexicon.tokensOf([words.join(' ')])
    expect(namesOf(lexicon, tokens)).toEqual(words)
    for (const [at, word] of words.entries()) expect(lexicon.numberOf(word)).toBe(tokens[at])
  }
  fc.assert(fc.property(anyText, isKept), { numRuns: 1_000 })
})

test('terms are told apart however many there are', () => {
  const lexicon = new Lexicon()
  const words = Array.from({ length: 100_000 }, (_, n) => `w${n}`)
  for (const word of words) lexicon.tokensOf([word])
  expect(lexicon.size).toBe(words.length + 1)
  expect(words.filter((word, at) => lexicon.numberOf(word) !== at + 1)).toEqual([])
  expect(lexicon.numberOf('w')).toBe(NO_TERM)
  expect(lexicon.numberOf('')).toBe(NO_TERM)
})

test('ASCII is folded, and nothing else', () => {
  const lexicon = new Lexicon()
  expect(namesOf(lexicon, lexicon.tokensOf(['ABZ xyz@[`{/:09 Äß']))).toEqual([
    'abz',
    'xyz',
    '09',
    'Äß',
  ])
})

test('no words stand together across key, text and metadata', async () => {
  const index = new HomeIndex()
  index.put({
    key: 'one',
    text: 'two',
    metadata: '{"three":4}',
    version: 1,
    createdAt: 0,
    updatedAt: 0,
  })
  const places: number[] = []
  await index.visit(
    ['one', 'two', 'three', '4'],
    (_, __, place) => places.push(place),
    async () => {},
  )
  expect(places).toEqual([0, 9, 18, 19])
  const phrase = (...terms: string[]) =>
    index.withPhrase(
      terms.map((term) => [term]),
      async () => {},
      () => true,
    )
  expect(await phrase('one', 'two')).toEqual(new Set())
  expect(await phrase('three', '4')).toEqual(new Set([1]))
  expect(await phrase('4', 'five')).toEqual(new Set())
})

test('a key without a word, and a memory without a text, have no places', () => {
  const index = new HomeIndex()
  index.put({ key: '-', text: '', metadata: '{}', version: 1, createdAt: 0, updatedAt: 0 })
  expect(index.docs.get(1)).toMatchObject({ keyTokens: 0, length: 2 })
})

test('an index is built anew once more was replaced than it holds', async () => {
  const fixture = await openFixture(embedded)
  const { agent } = await fixture.agent()
  const source = sourceOf(fixture.store())
  let builds = 0
  const readSlice: typeof source.readSlice = (...slice) => {
    builds++
    return source.readSlice(...slice)
  }
  const indexes = openIndexes({ ...source, readSlice })
  const write = (expectedVersion: number) => {
    const text = `n${expectedVersion} ${'a '.repeat(30_000)}`
    return fixture.write(agent, { key: 'a', text, expectedVersion })
  }
  await write(0)
  const query = { q: 'a', prefix: '', limit: 1 }
  for (let n = 1; n <= 40; n++) {
    await indexes.search(agent, query)
    await write(n)
    expect(await indexes.search(agent, { ...query, q: `n${n}` })).toMatchObject({ hits: [{}] })
  }
  expect(builds).toBe(2)
  indexes.close()
  await fixture.close()
})
