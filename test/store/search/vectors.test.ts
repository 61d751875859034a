/** Vectors in an index: what is compared, what is held, and when it is read again. */
import { expect, test } from 'vitest'
import { HomeIndex } from '../../../src/store/search/home-index.ts'
import { Indexes } from '../../../src/store/search/indexes.ts'
import { fused, similarTo } from '../../../src/store/search/similar.ts'

const NO_MORE = { previous: undefined, newest: 0, first: 1, reached: 0, looked: 0, missed: false }

const turn = async () => {}
const vector = Float32Array.of(1, 0)
const memory = (key: string, version: number) => ({
  ...{ key, version, text: '', metadata: '{}', createdAt: 0, updatedAt: 0 },
})

const compared = async (index: HomeIndex) => {
  const meant = { model: 'm', vector }
  const similar = await similarTo(index, meant, () => true, turn)
  return similar.outcome === 'compared' ? similar.docs.map(({ key }) => key) : similar
}

test('a vector counts only beside the version that it belongs to', async () => {
  const index = new HomeIndex()
  index.put(memory('a', 1))
  index.vectors.put({ key: 'a', model: 'm', version: 2, n: 7, vector })
  expect(await compared(index)).toEqual([])
  // It may be read again by an event of before it was indexed.
  for (const _ of ['read', 'read again']) {
    index.put(memory('a', 2))
    expect(await compared(index)).toEqual(['a'])
  }
})

test('nothing is held of a text that was replaced or deleted', () => {
  const index = new HomeIndex()
  for (const key of ['a', 'b']) {
    index.put(memory(key, 1))
    index.vectors.put({ key, model: 'm', version: 1, n: 1, vector })
  }
  index.vectors.put({ key: 'b', model: 'm', version: 1, n: 2, vector })
  const of = index.vectors.bytes
  index.put(memory('a', 2))
  expect(index.vectors.bytes).toBe(of / 2)
  index.remove('b')
  expect(index.vectors.bytes).toBe(0)
})

test('two rankings as one: words count more, meaning lifts, and words decide among equals', () => {
  const index = new HomeIndex()
  for (const key of 'abcdefg') index.put(memory(key, 1))
  const docs = (keys: string) => [...keys].flatMap((key) => index.docOf(key) ?? [])
  const order = (words: string, meaning: string) =>
    fused(docs(words), docs(meaning))
      .map(({ key }) => key)
      .join('')
  expect(order('abc', 'cab')).toBe('abc')
  expect(order('abcde', 'e')).toBe('aebcd')
  expect(order('abcdef', 'g')).toBe('abcdefg')
  expect(order('', 'ba')).toBe('ba')
})

test('all are read anew where the home was turned back', async () => {
  const only = (key: string, n: number) => ({ key, model: 'm', version: 1, n, vector })
  let stored = [only('a', 4), only('a', 5)]
  const identity = { agentId: 'x', kind: 'agent', status: 'active', tokenHash: 'x' } as const
  const indexes = new Indexes(
    {
      eventsAfter: async () => ({ outcome: 'events', events: [], last: 0, ...NO_MORE }),
      readMemory: async () => ({ outcome: 'missing' }),
      readSlice: async () => ({
        ...{ outcome: 'memories', memories: [memory('a', 1), memory('b', 1)], next: undefined },
      }),
      vectorsAfter: async (_, __, after) => {
        const vectors = stored.filter(({ n }) => n > after)
        return { outcome: 'vectors', vectors, last: stored.at(-1)?.n ?? 0, isEnd: true }
      },
    },
    1_000_000,
    turn,
  )
  const found = async () => {
    const used = await indexes.use(identity, true, compared)
    return used.outcome === 'used' ? used.result : used
  }
  expect(await found()).toEqual(['a'])
  stored = [only('b', 3)]
  expect(await found()).toEqual(['b'])
  indexes.close()
})
