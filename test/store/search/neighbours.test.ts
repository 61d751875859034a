/** What memories say for each other that stand next to each other, and who says it. */
import { describe, expect, test } from 'vitest'
import { HomeIndex } from '../../../src/store/search/home-index.ts'
import { addNeighbours } from '../../../src/store/search/neighbours.ts'
import { type Kept, kept, keysOf } from './asking.ts'

const MINUTE = 60_000

/** The line that answers has less of the question than one elsewhere, which is as good by itself. */
const answer = 'His name is Biscuit, he is a good boy'
const elsewhere = { key: 'list.x', text: 'His name is Walter, he is a good man', updatedAt: 1 }
const question = 'What is the name of the dog from the shelter?'

const chat = (key: string, text: string, createdAt = 0): Kept => ({ key, text, createdAt })

const firstOf = async (memories: readonly Kept[], q = question) => {
  const found = await keysOf(q, [...memories, elsewhere])
  return found.filter((key) => key.endsWith('.8') || key === 'list.x' || key.endsWith('.b'))[0]
}

const asked = 'You went to the shelter for a dog?'

describe('a line is found by what stands beside it', () => {
  test('before it, behind it, and one further', async () => {
    expect(await firstOf([chat('chat.7', asked), chat('chat.8', answer)])).toBe('chat.8')
    expect(await firstOf([chat('chat.9', asked), chat('chat.8', answer)])).toBe('chat.8')
    const between = chat('chat.7', 'Well')
    expect(await firstOf([chat('chat.6', asked), between, chat('chat.8', answer)])).toBe('chat.8')
  })

  test('in the order of writing, where keys have no numbers', async () => {
    const soon = [chat('chat.a', asked), chat('chat.b', answer, MINUTE)]
    expect(await firstOf(soon)).toBe('chat.b')
    const late = [chat('chat.a', asked), chat('chat.b', answer, 11 * MINUTE)]
    expect(await firstOf(late)).toBe('list.x')
  })

  test('but not by what is further away, in another group, or written in the same moment', async () => {
    expect(await firstOf([chat('chat.3', asked), chat('chat.8', answer)])).toBe('list.x')
    expect(await firstOf([chat('call.7', asked), chat('chat.8', answer)])).toBe('list.x')
    expect(await firstOf([chat('chat.a', asked), chat('chat.b', answer)])).toBe('list.x')
  })

  test('and only if it has a word of the question itself', async () => {
    const found = await keysOf(question, [chat('chat.7', asked), chat('chat.8', 'Biscuit!')])
    expect(found).toEqual(['chat.7'])
  })

  test('less if it is long', async () => {
    const long = `${answer} ${'and we walked along the river in the rain '.repeat(20)}`
    const other = { ...elsewhere, text: long.replace('Biscuit', 'Walter') }
    const of = async (text: string, than: Kept) =>
      (await keysOf(question, [chat('chat.7', asked), chat('chat.8', text), than])).indexOf(
        'list.x',
      )
    // The line that asks comes first; what is elsewhere behind what answers.
    expect(await of(answer, elsewhere)).toBe(2)
    expect(await of(long, other)).toBe(2)
  })
})

describe('what is added to the score', () => {
  const index = new HomeIndex()
  // The last is twice as long as a short text.
  const texts = ['A: ', 'B: ', 'A: ', 'B: ', `A: ${'x'.repeat(695)}`]
  for (const [n, text] of texts.entries()) index.put(kept({ key: `a.${n}`, text }))
  const docs = texts.map((_, n) => index.docOf(`a.${n}`)).filter((doc) => doc !== undefined)

  async function added(share: number, ...scores: readonly (readonly number[])[]) {
    const words = scores.map((word) => Float64Array.of(0, ...word))
    const sum = (id: number): number => words.reduce((all, word) => all + (word[id] ?? 0), 0)
    const all = Float64Array.from({ length: 6 }, (_, id) => sum(id))
    await addNeighbours(all, words, [{ docs, share }], async () => {})
    return docs.map(({ id }) => (all[id] ?? 0) - sum(id))
  }

  test('is half of it where nothing says who speaks, before a text or in metadata', async () => {
    const add = async (text: string, metadata: string) => {
      const index = new HomeIndex()
      for (const n of [1, 2]) index.put(kept({ key: `a.${n}`, text, metadata }))
      const scores = Float64Array.of(0, 0, 10)
      await addNeighbours(scores, [scores.slice()], index.sequences.runs(), async () => {})
      return scores[1]
    }
    const [spoken, of] = [5.5 + 1.5, await add('Yes', '{"role":"user"}')]
    expect([await add('A: yes', '{}'), of]).toEqual([
      expect.closeTo(spoken),
      expect.closeTo(spoken),
    ])
    expect(await add('Yes', '{"rule":"user"}')).toBeCloseTo(spoken / 2)
  })

  /** Besides what each has of the best three of the run. */
  const and = (ofRun: number, ...more: readonly number[]) =>
    more.map((each, n) => expect.closeTo(each + ofRun / (n === 4 ? 2 : 1)))

  test('is a share of each neighbour’s, of one further less, and half of it for a long text', async () => {
    expect(await added(1, [0, 10, 0, 0, 0])).toEqual(and(1.5, 5.5, 0, 5.5, 2.5, 0))
    expect(await added(1, [0, 0, 0, 10, 0])).toEqual(and(1.5, 0, 2.5, 5.5, 0, 2.75))
    expect(await added(0.5, [0, 0, 0, 10, 0])).toEqual(and(0.75, 0, 1.25, 2.75, 0, 1.375))
  })

  test('is of each word what exceeds its own, and of the run the best three', async () => {
    expect(await added(1, [0, 10, 4, 0, 0], [0, 1, 4, 0, 0])).toEqual(
      and((0.45 * (11 + 8)) / 3, 5.5 + 1, 1.2, 1.5, 2.5 + 2.2, 0.5 + 0.5),
    )
    expect(await added(1, [7, 8, 9, 1, 1])).toEqual(and((0.45 * 24) / 3, 0, 0, 0, 3.95, 0.125))
  })
})

test('where every word must be there, neighbours say nothing', async () => {
  const memories = [chat('chat.7', asked), chat('chat.8', answer), elsewhere]
  expect(await keysOf('name is', memories, { all: true })).toEqual(['list.x', 'chat.8'])
})

test('a phrase must be in the memory itself', async () => {
  const found = await keysOf('"shelter for a dog" name', [
    chat('chat.7', asked),
    chat('chat.8', answer),
  ])
  expect(found).toEqual(['chat.7'])
})

test('a conversation that says more of it comes before one that says little', async () => {
  const memories = [
    ...['The dog eats', 'The dog sleeps', 'A dog', 'A good walk'].map((text, n) =>
      chat(`a.${n}`, text),
    ),
    ...['A cat', 'A bird', 'A fish', 'A good walk'].map((text, n) => chat(`b.${n}`, text)),
  ]
  const found = await keysOf('walk the dog', memories)
  expect(found.indexOf('a.3')).toBeLessThan(found.indexOf('b.3'))
})

describe('who is named', () => {
  const said = (key: string, text: string, metadata = '{}'): Kept => ({ key, text, metadata })

  test('before a text, or in metadata, counts more than within one', async () => {
    const within = said('within', 'We travel, says Dana, to Rome')
    const label = said('label', 'Dana: we travel to Rome in spring')
    const speaker = said('speaker', 'We travel to Rome in spring', '{"speaker":"Dana"}')
    const q = 'Where does Dana travel?'
    expect(await keysOf(q, [within, label])).toEqual(['label', 'within'])
    expect(await keysOf(q, [within, speaker])).toEqual(['speaker', 'within'])
  })

  test('in a number is nobody', async () => {
    const one = said('one', 'We travel to Rome', '{"n":7}')
    const other = said('other', 'We travel 7 times', '{"n":8}')
    expect(await keysOf('travel 7', [one, other])).toEqual(['other', 'one'])
  })
})
