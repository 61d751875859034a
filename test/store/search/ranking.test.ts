/** What a question finds among some memories, in every script, and in which order. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { HomeIndex } from '../../../src/store/search/home-index.ts'
import { rank } from '../../../src/store/search/rank.ts'
import { spellingOf } from '../../../src/store/search/spelling.ts'
import { STOP_WORDS } from '../../../src/store/search/stop-words.ts'
import { tokensOf } from '../../../src/store/search/tokens.ts'
import { anyText } from '../engine-words.ts'
import { type Asked, ask, type Kept, kept, keysOf } from './asking.ts'

const runs = { numRuns: 500 }

const finds = async (q: string, memory: Kept, asked?: Asked): Promise<boolean> =>
  (await ask(q, [memory], asked)).length > 0

const texts = (memories: Readonly<Record<string, string>>): readonly Kept[] =>
  Object.entries(memories).map(([key, text]) => ({ key, text }))

describe('a memory is found', () => {
  test.each<[string, string, Kept]>([
    ['by some word of a question', 'When is the budget due?', { text: 'the budget of May' }],
    ['by another form of an English word', 'allergies', { text: 'an allergy to nuts' }],
    ['by the verb of a noun', 'Who migrated it?', { text: 'the migration took long' }],
    ['by the plural with an umlaut', 'Bäume', { text: 'Baum im Garten' }],
    ['by a part of a compound', 'Rechnung', { text: 'die Stromrechnung liegt hier' }],
    ['by the beginning of a compound', 'Strom', { text: 'die Stromrechnung liegt hier' }],
    ['by a compound of its words', 'Stromrechnung', { text: 'Rechnung für Strom' }],
    ['by a compound with a link', 'Geburtstagsgeschenk', { text: 'Geschenk zum Geburtstag' }],
    ['in another Ukrainian case', 'у книзі', { text: 'червона книга' }],
    ['in the instrumental', 'сестрою', { text: 'сестра живе тут' }],
    ['by a beginning', 'deploy', { text: 'deployments are on Mondays' }],
    ['although a letter is missing', 'alergic to penuts', { text: 'peanuts' }],
    ['although letters are swapped', 'Hannha', { text: 'Hannah leads it' }],
    ['in Ukrainian, in any case', 'ПАМʼЯТЬ', { text: "її пам'ять" }],
    ['in Japanese, without spaces', '天気', { text: '東京の天気は晴れ' }],
    ['in Japanese, by a question', '東京の天気はどうですか', { text: '天気は晴れ' }],
    ['in Japanese, by one character', '晴', { text: '東京の天気は晴れ' }],
    ['in Hindi, with its vowels', 'हिन्दी', { text: 'यह हिन्दी है' }],
    ['in Thai, without spaces', 'ไทย', { text: 'ภาษาไทยง่าย' }],
    ['in Arabic', 'كتاب', { text: 'هذا كتاب جديد' }],
    ['in Arabic, without its article', 'كتاب', { text: 'في الكتاب الجديد' }],
    ['in Arabic, as it is mostly written', 'مكتبه احمد', { text: 'مَكتَبة' }],
    ['by another form of a long word', 'підписуватиме', { text: 'Віктор підписує' }],
    ['by a common word, where no other is there', 'where is it', { text: 'it is there' }],
    ['in Korean', '회의', { text: '회의는 월요일' }],
    ['without the accents of Latin letters', 'resume', { text: 'a RÉSUMÉ' }],
    ['with accents that are written apart', 'café', { text: 'cafe\u0301' }],
    ['whatever the accents of others are composed of', 'їжак', { text: 'і\u0308жак' }],
    ['by the ends of Greek words', 'ΟΔΟΣ', { text: 'οδος' }],
    ['by a letter that is two in upper case', 'STRASSE', { text: 'die Straße' }],
    ['by two letters that are written as one', 'straße', { text: 'DIE STRASSE' }],
    ['by the letters of a ligature', 'office', { text: 'the oﬃce' }],
    ['by its key', 'plan', { key: 'plan.current' }],
    ['by a part of its key', 'current', { key: 'plan.current' }],
    ['by a value of its metadata', 'urgent', { metadata: '{"tag":"urgent"}' }],
    ['by what its metadata escapes', 'зірка', { metadata: '{"a":"\\u0437\\u0456рка"}' }],
    ['by a word after a line’s end in its metadata', 'tea', { metadata: '{"a":"x\\ntea"}' }],
    ['by a word after a line’s end in JSON', 'borshch', { text: '{"a":"tea\\n\\tborshch too"}' }],
    ['by a letter that JSON escapes', 'зірка', { text: '["\\u0437\\u0456рка"]' }],
    ['by what is no JSON, as it stands', 'new', { text: '[C:\\new' }],
    ['by an emoji', '🌱', { text: 'grown🌱today' }],
    ['by an emoji, however it is drawn', '❤', { text: 'much ❤️' }],
    ['by an arrow', '→', { text: 'a→b' }],
    ['by words that say nothing, where there are no others', 'who are you', { text: 'you' }],
    ['by the beginning of a number', 'f87f142', { text: 'commit f87f142c0ffee' }],
  ])('%s', async (_, query, memory) => {
    expect(await finds(query, memory)).toBe(true)
  })

  test.each<[string, string, Kept]>([
    ['has no word of it', 'june weather', { text: 'the budget of May' }],
    ['has another letter in a short word', 'їжак', { text: 'ліжко' }],
    ['has another number', '2026', { text: 'in 2025' }],
    ['shares nothing but words that say nothing', 'Where is the key?', { text: 'it is the way' }],
    ['is asked for an accent alone', '\u0301', { text: 'a RÉSUMÉ' }],
    ['is asked for signs alone', '?!', { text: 'what?!' }],
    ['has another emoji', '🌱', { text: 'grown 🌿 today' }],
    ['has the words of a phrase apart', '"copy tables"', { text: 'copy the tables' }],
    ['has them the other way round', '„b a“', { text: 'a b' }],
    ['has a Japanese phrase in parts', '"東京天気"', { text: '東京の天気は晴れ' }],
  ])('but not when it %s', async (_, query, memory) => {
    const other = { key: 'other', text: 'Where to find the key' }
    const found = await keysOf(query, [memory, other])
    expect(found).not.toContain('note')
  })

  test.each([
    ['"copy the tables"', 'copy the tables'],
    ['all «the tables»', 'copy the tables'],
    ['"COPY the"', 'we copy, the rest waits'],
    ['"東京の天気"', '今日、東京の天気は晴れ'],
    ['"晴"', '晴れ'],
    ['“naïve plan”', 'a NAIVE plan'],
  ])('where what is in quotes stands: %s', async (query, text) => {
    expect(await finds(query, { text })).toBe(true)
  })

  test.each([
    ['budget may', 'the budget of May', true],
    ['budget june', 'the budget of May', false],
    ['schiff', 'Donaudampfschifffahrt', true],
    ['budgets', 'the budget of May', false],
    ['of', 'the budget of May', true],
    ['天気東京', '東京の天気は晴れ', false],
    ['天気 東京', '東京の天気は晴れ', true],
  ])('by every word, where all must be there: %s', async (query, text, isFound) => {
    expect(await finds(query, { text }, { all: true })).toBe(isFound)
  })

  test('by any word of it that is nowhere else, whatever is beside it', async () => {
    await fc.assert(
      fc.asyncProperty(anyText, anyText, anyText, async (before, text, after) => {
        const words = [text, ...text.split(/\s+/)].filter((word) => tokensOf(word).length > 0)
        fc.pre(words.length > 0)
        const written = { key: 'written', text: `${before} ${text} ${after}` }
        for (const word of words) {
          const found = await keysOf(word, [written, { key: 'o', text: 'o' }])
          expect(found).toContain('written')
        }
      }),
      { ...runs, numRuns: 100 },
    )
  })
})

describe('the better match comes first', () => {
  const others = texts({ o1: 'rain again', o2: 'snow then', o3: 'sun at last' })

  test.each<[string, string, readonly Kept[], readonly string[]]>([
    ['a key before a text', 'plan', [{ key: 'b', text: 'plan' }, { key: 'plan' }], ['plan', 'b']],
    [
      'the word before another form of it, and that before a beginning',
      'plan',
      texts({ c: 'planetary', b: 'plans', a: 'plan' }),
      ['a', 'b', 'c'],
    ],
    [
      'more words of the question',
      'copy tables',
      texts({ b: 'copy it', c: 'copy all tables' }),
      ['c', 'b'],
    ],
    [
      'words that stand together',
      'red apple',
      texts({
        b: 'apple and then much later something red',
        c: 'a red apple and some other things',
      }),
      ['c', 'b'],
    ],
    ['more of it in less', 'x', texts({ b: 'x y z y z y z', c: 'x y' }), ['c', 'b']],
    [
      'the rarer word',
      'plan deploy',
      texts({ b: 'plan one', c: 'plan two', d: 'plan three', e: 'deploy four' }),
      ['e', 'b', 'c', 'd'],
    ],
    [
      'the newer of two that are alike',
      'x',
      [
        { key: 'a', text: 'x', updatedAt: 1 },
        { key: 'b', text: 'x', updatedAt: 2 },
      ],
      ['b', 'a'],
    ],
    ['of the same time, by key', 'x', texts({ b: 'x', a: 'x' }), ['a', 'b']],
  ])('%s', async (_, query, memories, order) => {
    expect(await keysOf(query, [...memories, ...others])).toEqual(order)
  })

  test('in one order, whatever order they were written in', async () => {
    const word = fc.constantFrom('alpha', 'alphas', 'beta', 'gamma', 'betagamma', 'Alpha')
    const text = fc.array(word, { minLength: 1, maxLength: 8 }).map((words) => words.join(' '))
    const home = fc.uniqueArray(fc.tuple(fc.stringMatching(/^[abc]{1,3}$/), text), {
      selector: ([key]) => key,
    })
    await fc.assert(
      fc.asyncProperty(home, word, word, async (memories, ...words) => {
        const order = (all: typeof memories) =>
          keysOf(words.join(' '), texts(Object.fromEntries(all)))
        const found = await order(memories)
        expect(await order(memories.toReversed())).toEqual(found)
        expect(new Set(found).size).toBe(found.length)
      }),
      { ...runs, numRuns: 100 },
    )
  })

  test('a word that nearly all have is left out of a large home, unless nothing is left', async () => {
    const many = Array.from({ length: 120 }, (_, n) => ({
      key: `n${n}`,
      text: n < 5 ? 'project deploy' : 'project',
    }))
    expect(await keysOf('project deploy', many)).toHaveLength(5)
    expect(await keysOf('project', many)).toHaveLength(120)
  })
})

describe('a long question', () => {
  /** Of different words that no test has. */
  const words = (count: number, of = 'w') =>
    Array.from({ length: count }, (_, n) => `${of}${n}x`).join(' ')

  test('is cut to its rarest words', async () => {
    const memories = [
      ...texts({ rare: 'the zebra sleeps', both: 'zebra often' }),
      ...Array.from({ length: 8 }, (_, n) => ({ key: `n${n}`, text: `often ${words(70)}` })),
    ]
    const found = await ask(`often ${words(70)} a zebra`, memories)
    const matched = new Set(found.flatMap((each) => each.matched))
    expect(matched).toContain('zebra')
    expect(matched).not.toContain('often')
    expect(matched.size).toBe(64)
    expect(found.map(({ key }) => key)).toEqual(expect.arrayContaining(['rare', 'both', 'n0']))
  })

  test('first of words that some memory has, then of others', async () => {
    const memories = texts({ far: 'a zebra in the garden', near: 'gardens' })
    expect(await keysOf(`${words(2_000)} zebra`, memories)).toEqual(['far'])
    expect(await keysOf(`the ${words(60)} gardening`, memories)).toEqual(['near', 'far'])
  })

  test('rare is what few memories have, however often, and no stop word', async () => {
    const memories = texts({
      ...{ a: words(64), b: words(64), often: 'zebra '.repeat(99), the: 'the' },
    })
    expect(await keysOf(`${words(64)} zebra`, memories)).toContain('often')
    const [found] = await ask(`the ${words(64)}`, memories)
    expect(found?.matched).toHaveLength(64)
  })

  test('is in the language of all of its words', async () => {
    const memories = texts({ a: 'studio '.repeat(9), b: 'law, study', other: words(63) })
    const found = await keysOf(`What are her studies? ${words(63)}`, memories)
    expect(found).toEqual(['other', 'b', 'a'])
  })

  test('of which every word must be there, of those that it is cut to', async () => {
    const memories = texts({ whole: words(70), part: words(69) })
    expect(await keysOf(words(70), memories, { all: true })).toContain('whole')
    expect(await keysOf(words(71), memories, { all: true })).toEqual([])
    expect(await keysOf(words(71), memories)).toHaveLength(2)
  })

  test.each([
    ['as it is', 500, ['exact']],
    ['longer', 501, ['exact', 'apart']],
  ])('a phrase in a question %s', async (_, length, found) => {
    const memories = texts({ exact: 'copy it now', apart: 'copy all of it' })
    const q = '"copy it"'.padEnd(length - 1).concat('.')
    expect((await keysOf(q, memories)).toSorted()).toEqual(found.toSorted())
  })

  test('takes one look at the memories to find its rarest words', async () => {
    const looks: number[] = []
    class Watched extends HomeIndex {
      override visit(...visit: Parameters<HomeIndex['visit']>) {
        looks.push(visit[0].length)
        return super.visit(...visit)
      }
    }
    const index = new Watched()
    index.put(kept({ text: words(10) }))
    const asked = { q: words(3_000), all: false, isWanted: () => true }
    await rank(index, asked, async () => {})
    expect(looks[0]).toBe(3_000)
    expect(looks.slice(1).every((terms) => terms < 1_000)).toBe(true)
  })
})

describe('missing', () => {
  async function missing(q: string, memories: readonly Kept[], { all = false }: Asked = {}) {
    const index = new HomeIndex()
    for (const memory of memories) index.put(kept(memory))
    return (await rank(index, { q, all, isWanted: () => true }, async () => {})).missing
  }

  const memories = texts({
    trip: "Oleh's sister has an allergy to nuts",
    дім: 'Книга лежить у домі',
    weather: '東京の天気は晴れ',
    café: 'Stromrechnung',
  })

  test.each<[string, string, readonly string[]]>([
    ['a word as it is written, in lower case', 'Which ZEBRA has an allergy?', ['zebra']],
    ['with its accents', 'Überraschung', ['überraschung']],
    ['each once, in their order', 'zebra Yak ZEBRA yak', ['zebra', 'yak']],
    ['none of which a form is there', 'allergies of a sister', []],
    ['none of which a spelling is there', 'sistre', []],
    ['none of which a part is there', 'Rechnung', []],
    ['no stop word', 'what were they about?', []],
    ['in other scripts', 'книгу про зебру', ['зебру']],
    ['a run without spaces that has nothing of any', '天気 移行計画', ['移行計画']],
    ['no run of which a part is there', '明日の天気', []],
    ['without its quotes', "'zebra' or “yak”", ['zebra', 'yak']],
    ['no negation', "It isn't, doesn’t and won't", []],
    ['in a phrase too', '"zebra crossing" nuts', ['zebra', 'crossing']],
    ['nothing where nothing is asked', '…', []],
    ['no word that is longer than words are', 'z'.repeat(41), []],
  ])('%s', async (_, q, words) => {
    expect(await missing(q, memories)).toEqual(words)
  })

  test('where every word must be there: no word that is part of another', async () => {
    expect(await missing('the nut zebra ister', memories, { all: true })).toEqual(['zebra'])
  })

  test('all, where there is no memory', async () => {
    expect(await missing('The plan of May', [])).toEqual(['plan', 'may'])
  })

  test('no word that nearly all have', async () => {
    const many = Array.from({ length: 120 }, (_, n) => ({ key: `n${n}`, text: 'project' }))
    expect(await missing('project zebra', many)).toEqual(['zebra'])
    expect(await missing('projects zebra', many)).toEqual(['zebra'])
  })

  test('no word of a day that is written otherwise', async () => {
    const dated = texts({ log: 'Sailed on 2023-05-08.' })
    expect(await missing('Who sailed on 8 May 2023?', dated)).toEqual([])
    expect(await missing('Who sailed on 9 June 1999?', dated)).toEqual(['9', 'june', '1999'])
    expect(await missing('Who sailed in 1999?', dated)).toEqual(['1999'])
  })

  test('nothing that is gone', async () => {
    const index = new HomeIndex()
    index.put(kept({ key: 'a', text: 'zebra' }))
    index.put(kept({ key: 'a', text: 'yak' }))
    const asked = { q: 'zebra yak', all: false, isWanted: () => true }
    expect((await rank(index, asked, async () => {})).missing).toEqual(['zebra'])
  })

  test('none of the words that a long question is cut by', async () => {
    const q = Array.from({ length: 200 }, (_, n) => `w${n}x`).join(' ')
    expect(await missing(q, memories)).toHaveLength(64)
  })

  test('no more words than are looked for, in however many ways one is written', async () => {
    const written = Array.from({ length: 128 }, (_, n) =>
      n.toString(2).padStart(7, '0').replaceAll('0', 'a').replaceAll('1', 'á'),
    )
    expect(await missing(written.join(' '), memories)).toHaveLength(64)
  })

  describe('none where not all could be looked for', () => {
    const letters = (n: number) =>
      n.toString(26).replaceAll(/\d/g, (digit) => 'qrstuvwxyz'[Number(digit)] ?? '')
    const beginning = (word: string, count: number) =>
      Array.from({ length: count }, (_, n) => word + letters(20_000 + n)).join(' ')

    test('among all words that begin alike', async () => {
      const many = texts({ a: beginning('zeb', 20_000) })
      const unknown = Array.from({ length: 20 }, (_, n) => `zebqq${letters(n)}qqqq`)
      expect(await missing('zebqqaqqqq', many)).toEqual(['zebqqaqqqq'])
      expect(await missing(unknown.join(' '), many)).toEqual([])
    })

    test('in all forms', async () => {
      const many = texts({ a: beginning('alpha', 2_000), b: beginning('betas', 2_000), c: 'yak' })
      expect(await missing('yaks zebra', many)).toEqual(['zebra'])
      expect(await missing('alpha betas yaks', many)).toEqual([])
    })
  })
})

test('what matched is told in the words of the memory, as they are written there', async () => {
  expect((await ask('resume', [{ text: 'a RÉSUMÉ' }]))[0]?.matched).toEqual(['résumé'])
  const [found] = await ask('Which ALLERGIES has Oleh’s sister?', [
    { text: "Oleh's sister: an allergy to nuts" },
  ])
  expect(found?.matched).toEqual(['allergy', 'oleh', 'sister'])
})

test('in an English question, words that only begin alike count half', async () => {
  const memories = texts({ studio: 'the dance studio', study: 'she learns law, her study' })
  expect(await keysOf('What are her studies?', memories)).toEqual(['study', 'studio'])
  const among = texts({ a: 'Häuser am See', b: 'house by the sea' })
  expect(await keysOf('Wo sind die Haus?', among)).toEqual(['a'])
})

test('no word that says nothing is written as the index never has it', () => {
  for (const word of STOP_WORDS) expect(tokensOf(word).map(spellingOf)).toEqual([word])
})
