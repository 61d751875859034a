/** Which memories stand next to each other. */
import { expect, test } from 'vitest'
import { HomeIndex } from '../../../src/store/search/home-index.ts'

const MINUTE = 60_000

function homeOf(memories: Readonly<Record<string, number>>) {
  const index = new HomeIndex()
  const put = (key: string, createdAt: number) =>
    index.put({ key, text: 'x', metadata: '{}', version: 1, createdAt, updatedAt: createdAt })
  for (const [key, createdAt] of Object.entries(memories)) put(key, createdAt)
  return {
    index,
    put,
    beside(key: string, most = 2) {
      const doc = index.docOf(key)
      if (!doc) throw new Error(`${key} is not there`)
      const { before, after } = index.sequences.beside(doc, most)
      return [before, after].map((docs) => docs.map(({ key }) => key).join(' '))
    },
    shares: () => [...index.sequences.runs()].map(({ share }) => share),
    runs() {
      const runs = [...index.sequences.runs()].map(({ docs }) =>
        docs.map(({ key }) => key).join(' '),
      )
      return runs.toSorted()
    },
  }
}

test('numbers at the end of keys say the order, whenever they were written', () => {
  const home = homeOf({ 'a.10': 3, 'a.9': 9e9, 'a.011': 1, 'a.13': 0, 'a.16': 0, 'b.12': 2 })
  expect(home.beside('a.10')).toEqual(['a.9', 'a.011 a.13'])
  expect(home.beside('a.10', 1)).toEqual(['a.9', 'a.011'])
  expect(home.beside('a.16')).toEqual(['', ''])
  expect(home.beside('b.12')).toEqual(['', ''])
  expect(home.runs()).toEqual(['a.9 a.10 a.011 a.13'])
})

test('words before a number name its group', () => {
  expect(homeOf({ 'chat.7': 0, 'chat.x': 8 }).runs()).toEqual([])
  const home = homeOf({ 'chat.turn-1': 0, 'chat.turn-2': 0, 'chat.note-2': 0, turn3: 0, turn4: 0 })
  expect(home.runs()).toEqual(['chat.turn-1 chat.turn-2', 'turn3 turn4'])
})

test('other numbers may stand before the last, but not a time or an identifier', () => {
  const home = homeOf({
    ...{ 's-1-2': 3, 's-1-3': 1, 's-2-1': 2, '2026-05-08_1': 9, '2026-05-08_2': 0 },
    ...{ 'log.1716900000000': 5, 'log.1716900004000': 4_005, 'id.a-446655440000': 1 },
  })
  expect(home.runs()).toEqual([
    ...['2026-05-08_1 2026-05-08_2', 'log.1716900000000 log.1716900004000', 's-1-2 s-1-3'],
  ])
})

test('other keys stand in the order of writing, up to ten minutes apart', () => {
  const home = homeOf({
    ...{ 'log.c': 0, 'log.a': 10 * MINUTE, 'log.b': 20 * MINUTE + 1 },
    // A date and an identifier end in a number that is no place.
    ...{ 'log.2026-01-02': 21 * MINUTE, 'log.6f1e7': 22 * MINUTE, 'other.d': 22 * MINUTE },
  })
  expect(home.runs()).toEqual(['log.b log.2026-01-02 log.6f1e7', 'log.c log.a'])
  expect(home.beside('log.2026-01-02')).toEqual(['log.b', 'log.6f1e7'])
  // What was written in a row counts half as much as what is numbered.
  expect(home.shares()).toEqual([0.5, 0.5])
  expect(homeOf({ 'a.1': 0, 'a.2': 0 }).shares()).toEqual([1])
})

test('what was written in one moment has no order', () => {
  const home = homeOf({ 'x.b': 5, 'x.a': 5, 'x.c': 5, 'x.d': 6 })
  expect(home.runs()).toEqual(['x.c x.d'])
  expect(homeOf({ 'x.7': 5, 'x.07': 5 }).runs()).toEqual([])
})

test('what is written again, deleted or made anew stands where it now belongs', () => {
  const home = homeOf({ 'x.a': 0, 'x.b': MINUTE, 'x.c': 2 * MINUTE })
  home.put('x.b', MINUTE)
  expect(home.beside('x.a')).toEqual(['', 'x.b x.c'])
  home.put('x.a', 3 * MINUTE)
  expect(home.runs()).toEqual(['x.b x.c x.a'])
  home.index.remove('x.c')
  expect(home.beside('x.b')).toEqual(['', 'x.a'])
  for (const key of ['x.a', 'x.b']) home.index.remove(key)
  expect(home.runs()).toEqual([])
})
