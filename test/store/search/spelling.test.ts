/** Spellings that people mix are one word, and the one that is asked for comes first. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { HomeIndex } from '../../../src/store/search/home-index.ts'
import { rank } from '../../../src/store/search/rank.ts'
import { snippetOf } from '../../../src/store/search/snippet.ts'
import { spellingOf } from '../../../src/store/search/spelling.ts'
import { tokensOf } from '../../../src/store/search/tokens.ts'

async function ask(q: string, texts: readonly string[], all = false) {
  const index = new HomeIndex()
  for (const [n, text] of texts.entries())
    index.put({ key: `m${n}`, text, metadata: '{}', version: 1, createdAt: 0, updatedAt: n })
  const { docs, termsIn } = await rank(index, { q, all, isWanted: () => true }, async () => {})
  return docs.map(({ id, key }) => ({
    text: texts[Number(key.slice(1))] ?? '',
    terms: termsIn(id),
  }))
}

const found = async (...asked: Parameters<typeof ask>) =>
  (await ask(...asked)).map(({ text }) => text)

/** Each is found by the other; the index holds both. */
const MIXED: readonly (readonly [string, string])[] = [
  ['Мёд', 'мед'],
  ['за\u0301мок', 'замок'],
  ['ґрунт', 'грунт'],
  ['Łukasz', 'lukasz'],
  ['smørrebrød', 'smorrebrod'],
  ['Đorđe', 'dorde'],
  ['ılık', 'ilik'],
  ['Straße', 'STRASSE'],
  ['ærlig', 'aerlig'],
  ['Œuvre', 'oeuvre'],
  ['Þing', 'thing'],
  ['bað', 'bad'],
  ['eŋ', 'en'],
  ['Azərbaycan', 'azerbaycan'],
  ['résumé', 'resume'],
  ['Việt', 'viet'],
  ['Αθήνα', 'ΑΘΗΝΑ'],
  ['שָׁלוֹם', 'שלום'],
  ['בְּרֵאשִׁ֖ית', 'בראשית'],
  ['װאָס', 'וואס'],
  ['كتاب', 'کتاب'],
  ['علي', 'علی'],
  ['على', 'علي'],
  ['أحمد', 'احمد'],
  ['مؤمن', 'مومن'],
  ['رئيس', 'رييس'],
  ['مكتبة', 'مكتبه'],
  ['كتـــاب', 'كتاب'],
  ['كِتَابٌ', 'كتاب'],
  ['٢٠٢٦', '2026'],
  ['۲۰۲۶', '2026'],
  ['२०२६', '2026'],
  ['きゃく', 'きやく'],
  ['ウィンドウ', 'ウインドウ'],
  ['リンゴ', 'りんご'],
  ['हिन्दी', 'हिंदी'],
  ['ज़मीन', 'जमीन'],
  ['चाँद', 'चांद'],
]

/** The same for the index. */
const SAME: readonly (readonly [string, string])[] = [
  ['３階', '3階'],
  ['ﾌﾟﾘﾝﾀ', 'プリンタ'],
  ['ｶﾞｽ', 'ガス'],
  ['ｗｉｄｅ', 'wide'],
  ['２０２６', '2026'],
  ['Ｃａｆｅ\u0301', 'café'],
  ['ﬁle', 'file'],
  ['5㎏', '5kg'],
  ['x²', 'x2'],
  ['①', '1'],
  ['𝓗𝓮𝓵𝓵𝓸', 'hello'],
  ['ﻛﺘﺎﺏ', 'كتاب'],
  ['İzmir', 'izmir'],
]

/** Letters that the words above do not have. */
const LETTERS =
  'ħh ŧt ɓb ɗd ƙk ƴy ѐе ѝи ٱا ےي ۃه ہه ھه ەه ۂه ぁあ ぃい ぅう ぇえ ぉお っつ ゅゆ ょよ ゎわ ゕか ゖけ ァあ ヴゔ'

const other = 'ninety'

test.each([...MIXED, ...SAME])('%s and %s find each other', async (...spellings) => {
  for (const [asked, written] of [spellings, spellings.toReversed()] as [string, string][]) {
    const text = `x ${written} y`
    expect(await found(asked, [text, other])).toEqual([text])
    expect(await found(asked, [text, other], true)).toEqual([text])
    expect(await found(`"x ${asked} y"`, [text, other])).toEqual([text])
    expect(await found(`"${asked}"`, [text, other])).toEqual([text])
  }
})

test.each(LETTERS.split(' '))('so do words with the letters %s', async (pair) => {
  const [one, two] = [...pair].map((letter) => `فب${letter}`)
  for (const [asked = '', text = ''] of [
    [one, two],
    [two, one],
  ]) {
    expect(await found(`"${asked}"`, [text, other])).toEqual([text])
  }
})

test.each(MIXED)('of %s and %s the one that is asked for comes first', async (...spellings) => {
  for (const asked of spellings) {
    for (const texts of [spellings, spellings.toReversed()]) {
      expect((await found(asked, texts))[0]).toBe(asked)
    }
  }
})

test.each([
  ['by another form', 'Łukaszem', 'lukasz'],
  ['by a part of a compound', 'Strasse', 'die Hauptstraße'],
  ['by a beginning', 'Lodz', 'Łódzkie'],
  ['although a letter is missing', 'Wroclw', 'Wrocław'],
  ['without the article', 'کتاب', 'اَلْكِتَابُ'],
  ['by one character', 'つ', 'っぱ'],
])('so are words that are found %s', async (_, q, text) => {
  expect(await found(q, [text, other])).toEqual([text])
})

test('in a question with accents, a word with others counts less', async () => {
  const texts = ['bán x', 'xanh y', 'xanh z']
  expect((await found('ban xanh', texts))[0]).toBe('bán x')
  expect((await found('bạn xanh', texts))[0]).not.toBe('bán x')
  expect(await found('bạn xanh', texts)).toHaveLength(3)
})

test('other letters stay other words', async () => {
  for (const [q, text] of [
    ['мій', 'міи'],
    ['їх', 'іх'],
    ['が', 'か'],
    ['½', '12'],
  ] as const) {
    expect(await found(q, [text])).toEqual([])
  }
})

test('a new spelling is found too, once the terms have been listed', async () => {
  const index = new HomeIndex()
  const put = (key: string, text: string) =>
    index.put({ key, text, metadata: '{}', version: 1, createdAt: 0, updatedAt: 0 })
  const keys = async () => {
    const { docs } = await rank(
      index,
      { q: 'мед', all: false, isWanted: () => true },
      async () => {},
    )
    return docs.map(({ key }) => key)
  }
  put('a', 'Мёд')
  expect(await keys()).toEqual(['a'])
  put('b', 'ме\u0301д')
  put('c', 'мед')
  expect(await keys()).toEqual(['c', 'a', 'b'])
})

const pieces = fc.constantFrom(
  ...['ёе', 'łl', 'øo', 'ée', 'ßẞ', 'ыы', 'ґг', 'ŠS', 'кК'],
  ...['ｘx', '３3', '٣۳', 'آا', 'كک', 'يی', 'בב', 'ゃや', 'アあ'],
)

test('a word finds itself, whichever of its letters are written in another way', async () => {
  const words = fc.array(fc.tuple(pieces, fc.boolean(), fc.boolean()), {
    minLength: 1,
    maxLength: 8,
  })
  await fc.assert(
    fc.asyncProperty(words, async (letters) => {
      const [one, two] = [1, 2].map((which) =>
        letters.map((letter) => [...letter[0]][letter[which] === true ? 1 : 0]).join(''),
      )
      const text = `a ${two} b`
      expect(await found(one ?? '', [text, other])).toEqual([text])
    }),
    { numRuns: 300 },
  )
})

const { compare } = new Intl.Collator('und', { sensitivity: 'base' })

test('what Unicode’s collation has as one letter of the alphabet, is one', () => {
  const latin = Array.from({ length: 0x1f00 }, (_, c) => String.fromCharCode(c)).filter((c) =>
    /(?=\p{Script=Latin})\p{Ll}/u.test(c),
  )
  const differing = latin.flatMap((c) => {
    const plain = [...'abcdefghijklmnopqrstuvwxyz'].find((each) => compare(each, c) === 0)
    return plain && tokensOf(c).map(spellingOf).join() !== plain ? [`${c}${plain}`] : []
  })
  expect(differing).toEqual([])
})

test.each(MIXED)('a snippet shows where %s is for %s', async (written, asked) => {
  const filler = 'lorem ipsum '.repeat(50)
  const text = `${filler}${written} ${filler}`
  const [hit] = await ask(asked, [text])
  expect(snippetOf({ text, metadata: '{}' }, hit?.terms ?? [])).toContain(written.normalize('NFC'))
})
