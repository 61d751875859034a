/** A day is found in whatever form it is written. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { daysAsked } from '../../../src/store/search/days.ts'
import { ask, type Kept, keysOf } from './asking.ts'

const noon = (day: string): number => Date.parse(`${day}T12:00Z`)

const others: readonly Kept[] = [
  { key: 'other.year', text: 'on 8 May 2022' },
  { key: 'other.day', text: 'on 9 June 2023' },
]

const FORMS: Readonly<Record<string, Kept>> = {
  'of ISO': { text: 'met on 2023-05-08' },
  'of ISO, with a time': { text: 'met at 2023-05-08T13:56:00.000Z' },
  'without hyphens': { text: 'photo 20230508' },
  'in English': { text: 'met on 8 May 2023' },
  'in American English': { text: 'met on May 8th, 2023' },
  'of a short name': { text: 'met 08 MAY 2023' },
  'in French, on the first': { text: 'le 8 mai 2023 et le 1er juin 2023' },
  'with small words': { text: 'visto el 8 de mayo de 2023' },
  'in German': { text: 'am 8. Mai 2023 gesehen' },
  'in Ukrainian': { text: 'бачив 8 травня 2023 року' },
  'in French, without its accents': { text: 'vu le 8 mai 2023, pas en fevrier' },
  'in digits of another script': { text: 'في ٨ مايو ٢٠٢٣' },
  'in Polish': { text: 'spotkanie 8 maja 2023' },
  'in Japanese': { text: '2023年5月8日に会った' },
  'in Korean': { text: '2023년 5월 8일에 만났다' },
  'in numbers alone': { text: 'met 8.5.2023 there' },
  'in a key': { key: 'journal.2023-05-08', text: 'we met' },
  'in metadata': { text: 'we met', metadata: '{"date":"2023-05-08"}' },
}

describe('a day', () => {
  test.each(Object.entries(FORMS))('%s is found by each other form', async (_, memory) => {
    const key = memory.key ?? 'note'
    for (const asked of [
      '2023-05-08',
      '8 May 2023',
      'May 8, 2023',
      '8. Mai 2023',
      '2023年5月8日',
    ]) {
      const found = await keysOf(`what happened on ${asked}?`, [memory, ...others])
      expect([asked, found[0]]).toEqual([asked, key])
    }
  })

  test('is found by its month, with the year and without', async () => {
    for (const asked of ['in May 2023', 'травень 2023', 'May 8', '5月8日', 'last May']) {
      const found = await keysOf(asked, [
        { text: 'met on 2023-05-08' },
        { key: 'o', text: '2024-06-09' },
      ])
      expect([asked, found]).toEqual([asked, ['note']])
    }
  })

  test.each([
    ['September 8, 2023', 'Sept 8, 2023', '2023-09-08'],
    ['1 May 2023', 'le 1er mai 2023', '2023-05-01'],
    ['May 2023', 'journal 2023-05', '2023-05'],
    ['May 2023', '05/2023', '2023-05'],
    ['2023-05', 'in May 2023', '2023-05'],
  ])('%s is what is written %s', async (asked, text, day) => {
    expect((await ask(asked, [{ text }]))[0]?.matched).toContain(day)
  })

  test('is no day beside it: of a range, or of a year of another era', async () => {
    const matched = async (q: string, text: string) => (await ask(q, [{ text }]))[0]?.matched
    expect(await matched('5 March 2023', 'May 3–5, 2023')).not.toContain('2023-03-05')
    for (const [text, day] of ['May 3–5, 2023', '3–5 May 2023'].flatMap((text) => [
      [text, 3],
      [text, 5],
    ])) {
      expect(await matched(`${day} May 2023`, `${text}`)).toContain(`2023-05-0${day}`)
    }
    expect([...daysAsked('令和5年5月8日').keys()]).toEqual(['‐‐05‐08'])
  })

  test('is not meant by the name of a person', async () => {
    const frost = [{ text: 'On 5 January 2020 and 7 May 2022 there was frost' }]
    expect(await keysOf('What does Maja like?', frost)).toEqual([])
    expect(await keysOf('Did Jan call?', frost)).toEqual([])
  })

  test('as it was asked comes first', async () => {
    const iso = { key: 'iso', text: 'met on 2023-05-08' }
    const english = { key: 'english', text: 'met on 8 May 2023' }
    expect(await keysOf('8 May 2023', [iso, english])).toEqual(['english', 'iso'])
    expect(await keysOf('2023-05-08', [english, iso])).toEqual(['iso', 'english'])
  })

  test('of two readings is found by both', async () => {
    const memory = { text: 'paid 05/08/2023' }
    const matched = async (q: string, text: string) => (await ask(q, [{ text }]))[0]?.matched
    expect(await matched('8 May 2023', memory.text)).toContain('2023-05-08')
    expect(await matched('5 August 2023', memory.text)).toContain('2023-08-05')
    expect(await matched('28 May 2023', '28/05/2023')).toContain('2023-05-28')
    expect(await matched('28 May 2023', '05/28/2023')).toContain('2023-05-28')
  })

  test('of the writing counts, but less than one that is said', async () => {
    const said = { key: 'said', text: 'on 2026-05-28', updatedAt: noon('2026-06-01') }
    const written = { key: 'written', text: 'we met', updatedAt: noon('2026-05-28') }
    const other = { key: 'other', text: 'we met', updatedAt: noon('2026-05-29') }
    expect(await keysOf('28 May 2026', [other, written, said])).toEqual(['said', 'written'])
    expect(await keysOf('in May 2026', [other, written, said])).toEqual([
      'said',
      'other',
      'written',
    ])
  })

  test('of the writing counts less than one that says the day without its year', () => {
    const weights = daysAsked('28 May 2026').get('2026‐05‐28')
    expect(weights?.get('w2026‐05‐28')).toBeLessThan(weights?.get('‐‐05‐28') ?? 0)
  })

  test('in any language of months with names of their own is found by ISO’s form', async () => {
    const language = fc.constantFrom(
      'en',
      'de',
      'fr',
      'es',
      'it',
      'nl',
      'sv',
      'tr',
      'uk',
      'el',
      'fi',
      'ar',
    )
    const day = fc.date({
      ...{ min: new Date('1900-01-01'), max: new Date('2099-12-31'), noInvalidDate: true },
    })
    await fc.assert(
      fc.asyncProperty(language, day, async (language, day) => {
        const format = { dateStyle: 'long', timeZone: 'UTC' } as const
        const text = day.toLocaleDateString(`${language}-u-ca-gregory-nu-latn`, format)
        expect(await keysOf(day.toISOString().slice(0, 10), [{ text }])).toEqual(['note'])
      }),
      { numRuns: 200 },
    )
  })
})

test('words that are also months find no day, and numbers alone are none', async () => {
  const memories = [{ text: '2023-05-08, 2023-03-08' }]
  for (const asked of ['may I come', 'May I come', 'they march', 'March on', '31 32 33']) {
    expect([asked, await keysOf(asked, memories)]).toEqual([asked, []])
  }
  expect(await keysOf('8 May 2023', [{ text: 'May she come? 40 do' }])).toEqual(['note'])
  expect(await keysOf('8 травня', [{ text: 'It may rain, 40 do' }])).toEqual([])
  for (const asked of ['2023-13-40', '20231301', 'it may 40']) expect(daysAsked(asked).size).toBe(0)
})

test('where every word must be there, the day of writing is none of them', async () => {
  const memory = { text: 'we met', updatedAt: noon('2026-05-28') }
  expect(await keysOf('2026', [memory], { all: true })).toEqual([])
  expect(await keysOf('2026', [memory])).toEqual([])
})

test('what matched is a day in ISO’s form', async () => {
  const [found] = await ask('8 May 2023', [{ text: 'met on 2023-05-08' }])
  expect(found?.matched).toEqual(['2023', '2023-05-08'])
  const [written] = await ask('28 May 2026', [{ text: 'x', updatedAt: noon('2026-05-28') }])
  expect(written?.matched).toEqual([])
  const [without] = await ask('8 May', [{ text: 'met on 2023-05-08' }])
  expect(without?.matched).toEqual([])
})

test('of very many days in one memory the first are kept', async () => {
  const dayOf = (n: number) => new Date(n * 86_400_000).toISOString().slice(0, 10)
  const text = Array.from({ length: 300 }, (_, n) => dayOf(n)).join(' ')
  expect(await keysOf(`"${dayOf(50)}"`, [{ text }])).toEqual(['note'])
  const named = async (n: number) =>
    (await ask(new Date(n * 86_400_000).toUTCString().slice(5, 16), [{ text }]))[0]?.matched
  expect(await named(50)).toContain(dayOf(50))
  expect(await named(250)).not.toContain(dayOf(250))
})
