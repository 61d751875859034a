/** What memories say for each other that stand next to each other, and who says it. */
import { describe, expect, test } from 'vitest'
import { type Kept, keysOf } from './asking.ts'

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
    const within = said(
      'within',
      'Somebody told Dana of it, and we travel to Rome in spring, or so',
    )
    const label = said('label', 'Dana: we travel to Rome in spring, or so, if all goes well')
    const speaker = said('speaker', 'We travel to Rome in spring, or so', '{"speaker":"Dana"}')
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
