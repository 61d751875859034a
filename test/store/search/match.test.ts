/** What is found of a memory, in every script, and in which order. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { soughtOf } from '../../../src/store/search/query.ts'
import { createRanking } from '../../../src/store/search/rank.ts'
import { foldedCharacters, wordsOf } from '../../../src/store/words.ts'
import { anyText } from '../engine-words.ts'

const seed = Number(process.env.SEARCH_SEED ?? Date.now() % 2 ** 31)
console.info(`search: SEARCH_SEED=${seed}`)

const runs = { seed, numRuns: 500 }

interface Kept {
  readonly key?: string
  readonly text?: string
  readonly metadata?: string
}

const kept = ({ key = 'note', text = 'nothing', metadata = '{}' }: Kept) => ({
  key,
  text,
  metadata,
})

const finds = (query: string, memory: Kept): boolean =>
  createRanking(soughtOf(query)).look(kept(memory))

/** Keys, best first, of memories that are given by key. */
function ranked(query: string, memories: Readonly<Record<string, Kept>>): readonly string[] {
  const ranking = createRanking(soughtOf(query))
  for (const [key, memory] of Object.entries(memories)) ranking.look(kept({ key, ...memory }))
  return ranking.ranked()
}

describe('a memory is found', () => {
  test.each([
    ['by a whole word', 'budget', { text: 'the budget of May' }],
    ['by words in any order', 'may budget', { text: 'the budget of May' }],
    ['by a part of a word', 'schiff', { text: 'Donaudampfschifffahrt' }],
    ['in Ukrainian, in any case', 'ПАМʼЯТЬ', { text: 'її памʼять' }],
    ['in Japanese, without spaces', '天気', { text: '東京の天気は晴れ' }],
    ['in Hindi, with its vowels', 'हिन्दी', { text: 'यह हिन्दी है' }],
    ['in Thai, without spaces', 'ไทย', { text: 'ภาษาไทยง่าย' }],
    ['without the accents of Latin letters', 'resume', { text: 'a RÉSUMÉ' }],
    ['with accents that are written apart', 'café', { text: 'cafe\u0301' }],
    ['whatever the accents of others are composed of', 'їжак', { text: 'і\u0308жак' }],
    ['by the ends of Greek words', 'ΟΔΟΣ', { text: 'οδος' }],
    ['by a letter that is two in upper case', 'STRASSE', { text: 'die Straße' }],
    ['by two letters that are written as one', 'straße', { text: 'DIE STRASSE' }],
    ['by a capital that is two letters elsewhere', 'GROẞ', { text: 'groß' }],
    ['by the letters of a ligature', 'office', { text: 'the oﬃce' }],
    ['by its key', 'plan', { key: 'plan.current' }],
    ['by a value of its metadata', 'urgent', { metadata: '{"tag":"urgent"}' }],
    ['by what its metadata escapes', 'зірка', { metadata: '{"a":"\\u0437\\u0456рка"}' }],
    [
      'by words in different places',
      'plan urgent may',
      {
        key: 'plan',
        text: 'May',
        metadata: '{"tag":"urgent"}',
      },
    ],
    ['by an emoji', '🌱', { text: 'grown 🌱 today' }],
    ['by signs alone', '=>', { text: 'a => b' }],
  ])('%s', (_, query, memory) => {
    expect(finds(query, memory)).toBe(true)
  })

  test.each([
    ['lacks one of the words', 'budget june', { text: 'the budget of May' }],
    ['has another letter', 'їжак', { text: 'іжак' }],
    ['is sought by an accent alone', '\u0301', { text: 'a RÉSUMÉ' }],
    ['is sought by accents and spaces alone', '\u0301 \u0308', { text: 'a RÉSUMÉ' }],
    ['has none of it', '🌱', { text: 'grown 🌿 today' }],
  ])('but not when it %s', (_, query, memory) => {
    expect(finds(query, memory)).toBe(false)
  })

  test('whenever its text holds the query as it was written', () => {
    fc.assert(
      fc.property(anyText, anyText, anyText, (before, query, after) => {
        fc.pre(query.trim() !== '')
        expect(finds(query, { text: before + query + after })).toBe(true)
      }),
      runs,
    )
  })

  test('in the same letters as the gateway’s words are', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        for (const word of wordsOf(text))
          expect(foldedCharacters(text)).toContain(foldedCharacters(word))
      }),
      runs,
    )
  })
})

describe('the better match comes first', () => {
  test.each([
    ['a key before a text', 'plan', { b: { text: 'plan' }, plan: {} }, ['plan', 'b']],
    [
      'a whole word before a part, even of a key',
      'plan',
      { planning: {}, z: { text: 'plan' } },
      ['z', 'planning'],
    ],
    [
      'so is a whole word of the metadata',
      'plan',
      { planning: {}, z: { metadata: '{"a":"plan"}' } },
      ['z', 'planning'],
    ],
    [
      'a part of a key before a part of a text',
      'plan',
      { b: { text: 'planning' }, planned: {} },
      ['planned', 'b'],
    ],
    ['as it was written', 'a plan', { b: { text: 'plan a' }, c: { text: 'a plan' } }, ['c', 'b']],
    ['more of it', 'x', { b: { text: 'x y z' }, c: { text: 'x x z' } }, ['c', 'b']],
    ['more of it in less', 'x', { b: { text: 'x y z y z y z' }, c: { text: 'x y' } }, ['c', 'b']],
    [
      'the rarer word more often',
      'a b',
      {
        b1: { text: 'b a a' },
        b2: { text: 'b b a' },
        other: { text: 'a' },
        another: { text: 'a' },
      },
      ['b2', 'b1'],
    ],
    ['what is alike by key', 'x', { b: { text: 'x' }, a: { text: 'x' } }, ['a', 'b']],
  ])('%s', (_, query, memories, order) => {
    expect(ranked(query, memories as Readonly<Record<string, Kept>>)).toEqual(order)
  })

  test('in one order, whatever order they are looked at in', () => {
    const word = fc.constantFrom('a', 'b', 'ab', 'c', 'A')
    const memory = fc.array(word, { minLength: 1, maxLength: 8 }).map((words) => words.join(' '))
    const home = fc.uniqueArray(fc.tuple(fc.stringMatching(/^[abc]{1,3}$/), memory), {
      selector: ([key]) => key,
    })
    fc.assert(
      fc.property(home, word, word, (memories, ...words) => {
        const order = (all: typeof memories) =>
          ranked(words.join(' '), Object.fromEntries(all.map(([key, text]) => [key, { text }])))
        const found = order(memories)
        expect(order(memories.toReversed())).toEqual(found)
        expect(new Set(found).size).toBe(found.length)
      }),
      runs,
    )
  })
})
