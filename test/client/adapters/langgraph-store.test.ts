/** The store of LangGraph in a home: whatever is done, as the one in memory does it. */
import { isDeepStrictEqual } from 'node:util'
import { Embeddings } from '@langchain/core/embeddings'
import {
  InMemoryStore,
  type Item,
  type Operation,
  type PutOperation,
  type SearchItem,
  type SearchOperation,
} from '@langchain/langgraph-checkpoint'
import { AgentHome, HomeError, OutcomeUnknown } from 'agent-home-client'
import { AgentHomeStore } from 'agent-home-client/langgraph'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { timesPromised } from '../../effort.ts'
import { type OpenedHome, openHome } from '../opened.ts'
import { all, caught } from '../outcome.ts'

const label = fc.oneof(
  fc.constantFrom('a', 'b', 'c', 'користувач', 'a b'),
  fc.constant('l'.repeat(50)),
)
const namespace = fc.array(label, { minLength: 1, maxLength: 3 })
const key = fc.constantFrom('k', 'a', 'k.k', '..', 'ключ', 'x'.repeat(90), '')
const field = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constantFrom('1', 'x', null, true))
const value = fc.record(
  {
    n: field,
    m: field,
    long: fc.constant('ї'.repeat(9_000)),
    nested: fc.json().map((text) => JSON.parse(text)),
  },
  { requiredKeys: ['n'] },
)
const condition = fc.oneof(
  field,
  fc.constant({}),
  fc.record({ $gt: field, $lte: field }, { requiredKeys: ['$gt'] }),
  fc.record({ $in: fc.array(field) }),
  fc.record({ $nin: fc.array(field) }),
  fc.record({ $eq: field }),
  fc.record({ $ne: field }),
)
const path = fc.array(fc.oneof(label, fc.constant('*')), { minLength: 1, maxLength: 2 })

const put = fc.record({
  namespace,
  key,
  value: fc.oneof({ weight: 3, arbitrary: value }, fc.constant(null)),
})
const get = fc.record({ namespace, key })
const filter = fc.dictionary(fc.constantFrom('n', 'm', 'none'), condition, { maxKeys: 2 })
const search = fc.record(
  {
    namespacePrefix: fc.oneof(fc.constant([]), namespace),
    filter,
    offset: fc.nat({ max: 2 }),
    limit: fc.integer({ min: 0, max: 4 }),
  },
  { requiredKeys: ['namespacePrefix', 'offset', 'limit'] },
)
const matchType = fc.constantFrom('prefix' as const, 'suffix' as const)
const list = fc.record(
  {
    matchConditions: fc.array(fc.record({ matchType, path }), { maxLength: 2 }),
    maxDepth: fc.integer({ min: 1, max: 3 }),
    offset: fc.nat({ max: 2 }),
    limit: fc.integer({ min: 0, max: 5 }),
  },
  { requiredKeys: ['matchConditions', 'offset', 'limit'] },
)

const EVERYTHING = 10_000

const DIMENSIONS = 27

/** A small model: how often each letter is in a text. */
class Letters extends Embeddings {
  fails = false
  readonly seen: string[] = []

  constructor() {
    super({})
  }

  override async embedDocuments(texts: string[]): Promise<number[][]> {
    if (this.fails) throw new Error('the model does not answer')
    this.seen.push(...texts)
    return texts.map((text) => {
      const vector = Array.from({ length: DIMENSIONS }, () => 0)
      for (const letter of `${text} `) {
        const at = letter.charCodeAt(0) - 96
        const place = at > 0 && at < DIMENSIONS ? at : 0
        vector[place] = (vector[place] ?? 0) + 1
      }
      return vector
    })
  }

  override async embedQuery(text: string): Promise<number[]> {
    const [vector = []] = await this.embedDocuments([text])
    return vector
  }
}

const told = ({ namespace, key, value }: Item) => ({ namespace, key, value })

const nameOf = ({ namespace, key }: Item) => JSON.stringify([namespace, key])

const sorted = (items: readonly Item[]) =>
  items.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))

/** Ours says an order, and forgets a namespace when its last item is deleted; theirs does neither. */
async function reference(memory: InMemoryStore, operation: Operation): Promise<unknown> {
  if ('namespacePrefix' in operation) {
    const whole = { ...operation, offset: 0, limit: EVERYTHING }
    const [found = []] = await memory.batch([whole])
    const { offset = 0, limit = 0 } = operation
    return sorted(found)
      .slice(offset, offset + limit)
      .map(told)
  }
  if ('value' in operation) return undefined
  if ('key' in operation) {
    const [item = null] = await memory.batch([operation])
    return item && told(item)
  }
  const left = new InMemoryStore()
  const [items = []] = await memory.batch([{ namespacePrefix: [], limit: EVERYTHING }])
  await left.batch(items.map((item) => ({ ...told(item) })))
  return (await left.batch([operation]))[0]
}

const ranked = (items: readonly SearchItem[]): string[] =>
  items.map(({ key, score = '' }) => `${key} ${score}`.trim())

const plain = (result: unknown): unknown => {
  if (Array.isArray(result)) return result.map((each) => (Array.isArray(each) ? each : told(each)))
  return result && told(result as Item)
}

describe('the store of LangGraph', () => {
  let opened: OpenedHome
  beforeAll(async () => {
    opened = await openHome()
  })
  afterAll(() => opened.close())

  async function begin() {
    const { home } = await opened.born()
    return { home, store: new AgentHomeStore({ home }) }
  }

  test('does what the one in memory does, whatever is done', async () => {
    const operation: fc.Arbitrary<Operation> = fc.oneof(
      { weight: 4, arbitrary: put },
      get,
      search,
      list,
    )
    const batches = fc.array(fc.array(operation, { maxLength: 6 }), { maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(batches, async (steps) => {
        const { store } = await begin()
        const memory = new InMemoryStore()
        for (const operations of steps) {
          const expected = []
          for (const each of operations) expected.push(await reference(memory, each))
          const results: unknown[] = await store.batch(operations)
          expect(results.map(plain)).toEqual(expected)
          await memory.batch(operations.filter((each) => 'value' in each))
        }
      }),
      { numRuns: timesPromised(120) },
    )
  })

  test('its own words are checked as the others are', async () => {
    const { store } = await begin()
    const memory = new InMemoryStore()
    for (const wrong of [[], [''], ['a.b'], ['a:b'], ['langgraph']]) {
      const [ours, theirs] = await Promise.all(
        [store, memory].map((each) => caught(each.put(wrong, 'k', {}))),
      )
      expect(ours).toEqual(theirs)
      expect(ours).toBeInstanceOf(Error)
    }
  })

  test('an item says when it was made and last changed', async () => {
    const { home, store } = await begin()
    await store.put(['users', 'ann'], 'likes', { food: 'borshch' })
    await store.put(['users', 'ann'], 'likes', { food: 'varenyky' })
    const memory = await home.read('store.users.ann.likes')
    expect(memory).toMatchObject({ text: '{"food":"varenyky"}', version: 2 })
    const item = await store.get(['users', 'ann'], 'likes')
    expect(item?.createdAt).toEqual(new Date(memory?.createdAt ?? ''))
    expect(item?.updatedAt).toEqual(new Date(memory?.updatedAt ?? ''))
  })

  test('a query puts first what answers it, and leaves nothing out', async () => {
    const { store } = await begin()
    await store.put(['m'], '1', { text: 'Ann likes tea' })
    await store.put(['m'], '2', { text: 'Ben likes green tea and cake' })
    await store.put(['m'], '3', { text: 'nothing of that' })
    await store.put(['n'], '4', { text: 'green tea elsewhere' })
    const ask = (options: Partial<SearchOperation>) =>
      store.search(['m'], { query: 'Who has green teas?', ...options }).then(ranked)
    expect(await ask({})).toEqual(['2 1', '1 0.5', '3'])
    expect(await ask({ limit: 1, offset: 1 })).toEqual(['1 0.5'])
    expect(await ask({ limit: 1, offset: 2 })).toEqual(['3'])
    expect(await ask({ limit: 0 })).toEqual([])
    expect(await ask({ filter: { text: { $ne: 'Ben likes green tea and cake' } } })).toEqual([
      '1 1',
      '3',
    ])
    expect(await ask({ query: ' \n' })).toEqual(['1', '2', '3'])
    expect(await ask({ query: `cake\0${'😀 '.repeat(400)}` })).toEqual(['2 1', '1', '3'])
  })

  test('a query finds what is long, or has a name that no key can say', async () => {
    const { store } = await begin()
    const long = (end: string) => ({ text: `${'hay '.repeat(5_000)}${end}` })
    await store.put(['m'], 'long', { text: `a needle ${long('a needle').text}` })
    await store.put(['m'], 'ключ', { text: 'a needle and a thread' })
    await store.put(['m', 'ключ'], 'k', long('a thread of a needle'))
    await store.put(['клуня'], 'k', { text: 'a needle and a thread' })
    await store.put(['клуня'], 'long', long('a needle and a thread'))
    await store.put(['m'], 'last', { text: `${'hay '.repeat(4_000)}needles` })
    await store.put(['m'], 'none', { text: 'nothing' })
    const found = await store.search(['m'], { query: 'needle thread' })
    expect(ranked(found)).toEqual(['ключ 1', 'k 0.5', `long ${1 / 3}`, 'last 0.25', 'none'])
    expect(found.map(({ value }) => value).slice(1, 3)).toEqual([
      long('a thread of a needle'),
      { text: `a needle ${long('a needle').text}` },
    ])
  })

  test('with an index a query is by meaning, as in the one in memory', async () => {
    const namespaces = fc.constantFrom<string[][]>(['m'], ['m', 'in'], ['клуня'])
    const text = fc.constantFrom('tea', 'green tea', 'a cup of tea', 'rain', 'a rainy day')
    const put: fc.Arbitrary<PutOperation> = fc.record(
      {
        namespace: namespaces,
        key: fc.constantFrom('1', '2', '3', 'ключ'),
        value: fc.oneof(fc.record({ text, other: text }), fc.constant(null)),
        index: fc.constantFrom<(false | string[])[]>(false, ['other']),
      },
      { requiredKeys: ['namespace', 'key', 'value'] },
    )
    const query = fc.oneof(text, fc.constant(''))
    const asked = fc.record({ namespacePrefix: namespaces, query })
    const rounds = fc.array(fc.record({ puts: fc.array(put, { maxLength: 4 }), asked }), {
      maxLength: 4,
    })
    const property = fc.asyncProperty(rounds, async (steps) => {
      const { home } = await opened.born()
      const index = { dims: DIMENSIONS, embeddings: new Letters(), fields: ['text'] }
      const store = new AgentHomeStore({ home, index })
      // The one in memory keeps the vectors of what is put again without: it is made anew.
      const last = new Map<string, PutOperation>()
      for (const { puts, asked } of steps) {
        await store.batch(puts)
        for (const each of puts) last.set(JSON.stringify([each.namespace, each.key]), each)
        const memory = new InMemoryStore({ index })
        await memory.batch([...last.values()])
        const wanted = { ...asked, limit: EVERYTHING }
        const [ours = []] = await store.batch([wanted])
        const [theirs = []] = await memory.batch([wanted])
        const scored = (items: readonly SearchItem[]) =>
          Object.fromEntries(items.map(({ score, ...item }) => [nameOf(item), score]))
        const expected = Object.entries(scored(theirs)).map(([name, score]) => [
          name,
          score === undefined || asked.query === '' ? undefined : expect.closeTo(score, 5),
        ])
        expect(scored(ours)).toEqual(Object.fromEntries(expected))
        const scores = ours.map(({ score = -1 }) => score)
        expect(scores).toEqual(scores.toSorted((a, b) => b - a))
      }
    })
    await fc.assert(property, { numRuns: timesPromised(40) })
  })

  test('the texts of fields are found wherever they are', async () => {
    const { home } = await begin()
    const embeddings = new Letters()
    const fields = ['title', 'author.name', 'tags[*]', 'pages[-1].text', 'pages[9]', 'no.such[0]']
    const store = new AgentHomeStore({ home, index: { dims: DIMENSIONS, embeddings, fields } })
    const pages = [{ text: 'first' }, { text: 'last' }]
    const value = { title: 'tea', author: { name: 'ann' }, tags: ['a', 7, null], pages }
    await store.put(['m'], 'k', value)
    await store.put(['m'], 'whole', value, ['$'])
    await store.put(['m'], 'none', { other: 'x' })
    expect(embeddings.seen).toEqual(['tea\nann\na\n7\nlast', JSON.stringify(value)])
  })

  test('a model that fails changes nothing', async () => {
    const { home } = await begin()
    const embeddings = new Letters()
    const store = new AgentHomeStore({ home, index: { dims: DIMENSIONS, embeddings } })
    await store.put(['m'], 'k', { text: 'tea' })
    embeddings.fails = true
    const refused = await caught(store.put(['m'], 'k', { text: 'rain' }))
    expect(refused).toEqual(new Error('the model does not answer'))
    expect((await store.get(['m'], 'k'))?.value).toEqual({ text: 'tea' })
  })

  test('short items that answer a query are read with it', async () => {
    const counted = { requests: 0 }
    const { home } = await opened.born({
      fetch: (...request) => {
        counted.requests++
        return fetch(...request)
      },
    })
    const store = new AgentHomeStore({ home })
    const value = { text: 'likes tea' }
    const namespace = ['m']
    await store.batch(Array.from({ length: 130 }, (_, at) => ({ namespace, key: `${at}`, value })))
    counted.requests = 0
    expect(await store.search(namespace, { query: 'Who likes tea?' })).toHaveLength(10)
    // One for readable keys, one for hashed ones.
    expect(counted.requests).toBe(2)
  })

  test('many who put at once each leave something whole', async () => {
    const { home, store } = await begin()
    const long = (name: string) => ({ text: `${name} `.repeat(9_000) })
    const names = ['A', 'B', 'C', 'D']
    await Promise.all(names.map((name) => store.put(['shared'], 'k', long(name))))
    const item = await store.get(['shared'], 'k')
    expect(names.map(long)).toContainEqual(item?.value)
    expect((await all(home.list())).length).toBe(2)
    await store.delete(['shared'], 'k')
    expect(await all(home.list())).toEqual([])
  })

  test('more than one batch takes is put in several', async () => {
    const { store } = await begin()
    const operations = Array.from({ length: 130 }, (_, at) => ({
      namespace: ['many'],
      key: `k${at}`,
      value: { at },
    }))
    await store.batch(operations)
    expect(await store.search(['many'], { limit: 200 })).toHaveLength(130)
  })

  test('a value may have any length, is replaced at once, and leaves nothing behind', async () => {
    const { home, store } = await begin()
    const isThere = async (value: object | undefined) =>
      isDeepStrictEqual((await store.get(['a'], 'k'))?.value, value)
    const [first, second] = ['1', '2'].map((begin) => ({ text: begin + 'ї'.repeat(1_000_000) }))
    await store.batch([
      { namespace: ['a'], key: 'k', value: first ?? {} },
      { namespace: ['a'], key: 'short', value: { n: 1 } },
    ])
    expect(await isThere(first)).toBe(true)
    await store.put(['a'], 'k', second ?? {})
    expect(await isThere(second)).toBe(true)
    expect(await all(home.list())).toHaveLength(1 + Math.ceil(2_000_012 / 16_384))
    await store.put(['a'], 'k', { n: 2 })
    expect(await isThere({ n: 2 })).toBe(true)
    await store.put(['a'], 'k', { text: 'ї'.repeat(20_000) })
    await store.delete(['a'], 'k')
    expect((await all(home.list())).map(({ key }) => key)).toEqual(['store.a.short'])
  })

  test('of a long value that the home refuses nothing stays, and the one before it does', async () => {
    const small = await openHome({ MEMORIES_PER_AGENT: '100' })
    const { home } = await small.born()
    const store = new AgentHomeStore({ home })
    await store.put(['a'], 'k', { n: 1 })
    const refused = await caught(store.put(['a'], 'k', { text: 'ї'.repeat(1_000_000) }))
    expect(refused).toBeInstanceOf(HomeError)
    expect((await all(home.list())).map(({ key }) => key)).toEqual(['store.a.k'])
    expect((await store.get(['a'], 'k'))?.value).toEqual({ n: 1 })
    await small.close()
  })

  test('a long value whose answers are lost is whole all the same', async () => {
    const { token, home } = await opened.born()
    const losing: typeof fetch = async (...asked) => {
      const answer = await fetch(...asked)
      // Of what shows the item, not of its pieces.
      if (String(asked[1]?.body).includes('"namespace"')) throw new TypeError('terminated')
      return answer
    }
    const far = new AgentHome({ url: opened.url, token, fetch: losing, retries: 0 })
    const value = { text: 'ї'.repeat(510_000) }
    const lost = await caught(new AgentHomeStore({ home: far }).put(['a'], 'k', value))
    expect(lost).toBeInstanceOf(OutcomeUnknown)
    const found = await new AgentHomeStore({ home }).get(['a'], 'k')
    expect(isDeepStrictEqual(found?.value, value)).toBe(true)
  })
})
