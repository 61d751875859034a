/** Searches of one agent's memories: whose they are, how they are paged, and what bounds them. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Identity } from '../../../src/store/port/identity.ts'
import type { SearchCursor, SearchQuery } from '../../../src/store/port/search.ts'
import { stores } from '../../harness.ts'
import { NOON, newWrite, openFixture, type StoreFixture } from '../fixture.ts'

describe.each(stores)('search on $name', (engine) => {
  let fixture: StoreFixture
  beforeAll(async () => {
    fixture = await openFixture(engine)
  })
  afterAll(() => fixture.close())

  async function search(identity: Identity, query: Partial<SearchQuery>) {
    const whole = { q: 'plan', prefix: '', limit: 20, ...query }
    const answer = await fixture.store().searchMemories(identity, whole)
    if (answer.outcome !== 'hits') throw new Error(answer.outcome)
    return answer
  }

  const keys = async (identity: Identity, query: Partial<SearchQuery>) =>
    (await search(identity, query)).hits.map(({ key }) => key)

  /** Page after page, and how many there were. */
  async function allKeys(identity: Identity, query: Partial<SearchQuery>) {
    const found: string[] = []
    let after: SearchCursor | undefined
    let pages = 0
    do {
      const { hits, next } = await search(identity, { ...query, after })
      found.push(...hits.map(({ key }) => key))
      after = next
      pages++
    } while (after)
    return { found, pages }
  }

  test('a hit is a memory as it is now, with a snippet', async () => {
    const { agent } = await fixture.agent()
    const id = randomUUID()
    await fixture.write(agent, { id, key: 'plan', text: 'old', metadata: '{}' })
    await fixture.write(agent, {
      key: 'plan',
      text: 'новий',
      metadata: '{"a":1}',
      expectedVersion: 1,
    })
    expect(await search(agent, { q: 'НОВИЙ' })).toEqual({
      outcome: 'hits',
      hits: [
        {
          id,
          key: 'plan',
          bytes: 10,
          metadata: '{"a":1}',
          version: 2,
          createdAt: NOON,
          updatedAt: NOON,
          matched: ['новий'],
          text: 'новий',
        },
      ],
      next: undefined,
      looked: 2 * 17,
      missing: [],
    })
    expect(await keys(agent, { q: 'old' })).toEqual([])
  })

  test('where nothing is found, a similar word is named as it is written', async () => {
    const { agent } = await fixture.agent()
    await fixture.write(agent, { key: 'city', text: 'Łódź' })
    expect((await search(agent, { q: 'lxodzyz', suggest: true })).near).toEqual(['łódź'])
  })

  test('only pinned ones where those are asked for, as they are now', async () => {
    const { agent } = await fixture.agent()
    const metadata = '{"pinned":true}'
    await fixture.write(agent, { key: 'a.plan', metadata })
    await fixture.write(agent, { key: 'b.plan' })
    await fixture.write(agent, { key: 'b.plans', metadata })
    await fixture.write(agent, { key: 'c.plan', metadata: '{"pinned":1}' })
    expect(await keys(agent, { pinned: true })).toEqual(['a.plan', 'b.plans'])
    expect(await keys(agent, { pinned: true, prefix: 'b' })).toEqual(['b.plans'])
    expect(await keys(agent, { pinned: false })).toHaveLength(4)
    const { found, pages } = await allKeys(agent, { pinned: true, limit: 1 })
    expect([found, pages]).toEqual([['a.plan', 'b.plans'], 2])
    await fixture.write(agent, { key: 'a.plan', metadata: '{}', expectedVersion: 1 })
    expect(await keys(agent, { pinned: true })).toEqual(['b.plans'])
  })

  test('only the agent’s own memories, and only those with the prefix', async () => {
    const [mine, other] = [await fixture.agent(), await fixture.agent()]
    await fixture.write(mine.agent, { key: 'a.plan' })
    await fixture.write(mine.agent, { key: 'b.plan' })
    await fixture.write(other.agent, { key: 'c.plan' })
    expect(await keys(mine.agent, {})).toEqual(['a.plan', 'b.plan'])
    expect(await keys(mine.operator, {})).toEqual(['a.plan', 'b.plan'])
    expect(await keys(mine.agent, { prefix: 'b' })).toEqual(['b.plan'])
    expect(await keys(other.agent, {})).toEqual(['c.plan'])
  })

  test('what was deleted is found no more, and what was renamed by its name', async () => {
    const { agent } = await fixture.agent()
    for (const key of ['gone', 'before']) await fixture.write(agent, { key, text: 'plan' })
    await fixture.store().changeMemories(
      agent,
      [
        { verb: 'delete', key: 'gone', expectedVersion: 1 },
        { verb: 'rename', from: 'before', to: 'after', expectedVersion: 1 },
      ],
      NOON,
    )
    expect(await keys(agent, {})).toEqual(['after'])
  })

  test('a paused agent is refused, its operator is not, and a void token is void', async () => {
    const { agent, operator } = await fixture.agent()
    const store = fixture.store()
    const query = { q: 'plan', prefix: '', limit: 1 }
    await store.setStatus(operator, 'paused', NOON)
    expect(await store.searchMemories(agent, query)).toEqual({ outcome: 'paused' })
    expect(await store.searchMemories(operator, query)).toMatchObject({ outcome: 'hits' })
    await store.rotateAgentToken(operator, randomUUID(), NOON)
    expect(await store.searchMemories(agent, query)).toEqual({ outcome: 'revoked' })
  })

  test('pages follow each other, each memory once, whatever is written in between', async () => {
    const { agent } = await fixture.agent()
    for (let n = 0; n < 25; n++) await fixture.write(agent, { key: `k${n}`, text: 'plan' })
    const { found, pages } = await allKeys(agent, { limit: 10 })
    expect([found.length, new Set(found).size, pages]).toEqual([25, 25, 3])
    const first = await search(agent, { limit: 10 })
    await fixture.write(agent, { key: 'plan.better', text: 'plan' })
    const second = await search(agent, { limit: 10, after: first.next })
    const shown = [...first.hits, ...second.hits].map(({ key }) => key)
    expect(new Set(shown).size).toBe(20)
  })

  test('the next page begins after what was shown, whatever was written before it', async () => {
    const { agent } = await fixture.agent()
    for (let n = 10; n < 20; n++) await fixture.write(agent, { key: `k${n}`, text: 'plan' })
    const first = await search(agent, { limit: 5 })
    // The best match of all, and among the keys that were looked at.
    await fixture.write(agent, { key: 'a.plan', text: 'plan' })
    const second = await search(agent, { limit: 20, after: first.next })
    const shown = [...first.hits, ...second.hits].map(({ key }) => key)
    expect(new Set(shown).size).toBe(shown.length)
    expect(shown).toEqual(expect.arrayContaining(Array.from({ length: 10 }, (_, n) => `k1${n}`)))
  })

  test.each([
    { what: 'the first that was shown', at: 0 },
    { what: 'the last that was shown', at: 4 },
  ])('the next page leaves nothing out and repeats nothing: $what was deleted', async ({ at }) => {
    const { agent } = await fixture.agent()
    const written = Array.from({ length: 10 }, (_, n) => `k1${n}`)
    for (const key of written) await fixture.write(agent, { key, text: 'plan' })
    const first = await search(agent, { limit: 5 })
    const key = first.hits[at]?.key ?? ''
    const deleted = { verb: 'delete', key, expectedVersion: 1 } as const
    await fixture.store().changeMemories(agent, [deleted], NOON)
    const second = await search(agent, { limit: 20, after: first.next })
    const shown = [...first.hits, ...second.hits].map((hit) => hit.key)
    expect(shown.toSorted()).toEqual(written)
  })

  test('letters are the same in every case, also where a case has more of them', async () => {
    const { agent } = await fixture.agent()
    await fixture.write(agent, { key: 'a', text: 'Die Straße nach Gießen' })
    await fixture.write(agent, { key: 'b', text: 'DIE STRASSE NACH GIESSEN' })
    for (const q of ['STRASSE', 'straße', 'STRAẞE', 'Strasse']) {
      expect((await keys(agent, { q })).toSorted()).toEqual(['a', 'b'])
    }
    const { hits } = await search(agent, { q: 'GIESSEN' })
    expect(hits.map(({ text }) => text).toSorted()).toEqual([
      ...['DIE STRASSE NACH GIESSEN', 'Die Straße nach Gießen'],
    ])
  })

  test('an accent alone finds no memory', async () => {
    const { agent } = await fixture.agent()
    await fixture.write(agent, { key: 'a', text: 'résumé' })
    for (const q of ['\u0301', ' \u0301', '\u0301\u0308 \u0301']) {
      expect(await keys(agent, { q })).toEqual([])
    }
  })

  test('a short text is there whole, of a longer one the piece that answers', async () => {
    const { agent } = await fixture.agent()
    const filler = 'lorem ipsum '.repeat(40)
    await fixture.write(agent, { key: 'short', text: `plan ${'𝒳'.repeat(395)}` })
    await fixture.write(agent, { key: 'long', text: `${filler} the plan is here ${filler}` })
    const { hits } = await search(agent, {})
    const byKey = Object.fromEntries(hits.map((hit) => [hit.key, hit]))
    expect(byKey.short).toMatchObject({ text: `plan ${'𝒳'.repeat(395)}` })
    expect(byKey.short).not.toHaveProperty('snippet')
    expect(byKey.long).toMatchObject({ snippet: expect.stringContaining('the plan is here') })
    expect(byKey.long).not.toHaveProperty('text')
  })

  test('every word must be there where all are asked for, and a phrase in any case', async () => {
    const { agent } = await fixture.agent()
    await fixture.write(agent, { key: 'a', text: 'copy the tables' })
    await fixture.write(agent, { key: 'b', text: 'copy it' })
    expect(await keys(agent, { q: 'copy tables' })).toEqual(['a', 'b'])
    expect(await keys(agent, { q: 'copy table', all: true })).toEqual(['a'])
    expect(await keys(agent, { q: '"copy it" tables' })).toEqual(['b'])
  })

  test('words that no memory has are told on every page, of what a key can see', async () => {
    const { agent, operator } = await fixture.agent()
    await fixture.write(agent, { key: 'a.plan', text: 'a plan of tables' })
    await fixture.write(agent, { key: 'b.plan', text: 'plan' })
    const query = { q: 'The Zebra plan of tables', limit: 1 }
    const first = await search(agent, query)
    expect([first.hits.length, first.missing]).toEqual([1, ['zebra']])
    expect((await search(agent, { ...query, after: first.next })).missing).toEqual(['zebra'])
    expect((await search(agent, { ...query, prefix: 'b.' })).missing).toEqual(['zebra'])
    expect((await search(agent, { ...query, all: true })).missing).toEqual(['zebra'])
    expect((await search(agent, {})).missing).toEqual([])
    const narrow = await fixture.named(operator, { prefix: 'b.' })
    expect((await search(narrow, query)).missing).toEqual(['zebra', 'tables'])
    const meant = { model: 'm', vector: Float32Array.of(1) }
    expect((await search(agent, { q: '', meant })).missing).toEqual([])
  })

  test('a question as long as a memory finds what shares its rare words', async () => {
    const { agent } = await fixture.agent()
    await fixture.write(agent, { key: 'a', text: 'the zebra' })
    await fixture.write(agent, { key: 'b', text: 'plan' })
    const words = Array.from({ length: 3_000 }, (_, n) => `w${n}`).join(' ')
    const q = `"plan it" ${words} zebra`
    expect((await keys(agent, { q })).toSorted()).toEqual(['a', 'b'])
    expect(await keys(agent, { q, all: true })).toEqual([])
  })

  describe('around a hit', () => {
    /** Of each hit, with its text or snippet. */
    async function surroundings(identity: Identity, query: Partial<SearchQuery>) {
      const { hits } = await search(identity, query)
      return Object.fromEntries(hits.map(({ key, before, after }) => [key, { before, after }]))
    }

    const keysAround = async (identity: Identity, query: Partial<SearchQuery>) =>
      Object.entries(await surroundings(identity, query)).map(([key, { before, after }]) => [
        ...(before ?? []).map((each) => each.key),
        `(${key})`,
        ...(after ?? []).map((each) => each.key),
      ])

    async function talk(identity: Identity, texts: readonly string[]) {
      for (const [n, text] of texts.entries()) {
        await fixture.write(identity, { key: `chat.${n + 7}`, text })
      }
    }

    test('come the memories right before and after it, as far as asked', async () => {
      const { agent } = await fixture.agent()
      await talk(agent, ['one', 'two', 'the plan', 'four', 'five', 'six'])
      await fixture.write(agent, { key: 'weather', text: 'rain' })
      expect(await keysAround(agent, { around: 1 })).toEqual([['chat.8', '(chat.9)', 'chat.10']])
      expect(await keysAround(agent, { around: 2 })).toEqual([
        ['chat.7', 'chat.8', '(chat.9)', 'chat.10', 'chat.11'],
      ])
      expect(await keysAround(agent, { q: 'one', around: 2 })).toEqual([
        ['(chat.7)', 'chat.8', 'chat.9'],
      ])
      const [none] = (await search(agent, {})).hits
      expect(none).not.toHaveProperty('before')
      expect(none).not.toHaveProperty('after')
    })

    test('they are as they are now, short ones whole, others as they begin', async () => {
      const { agent } = await fixture.agent()
      const long = `The plan: ${'lorem ipsum '.repeat(60)}`
      await talk(agent, ['Which tables?', 'All of the shop.', long])
      await fixture.write(agent, { key: 'chat.7', text: 'Which table?', expectedVersion: 1 })
      const { 'chat.8': hit } = await surroundings(agent, { q: 'shop', around: 1 })
      expect(hit).toEqual({
        before: [{ key: 'chat.7', version: 2, updatedAt: NOON, text: 'Which table?' }],
        after: [
          {
            key: 'chat.9',
            version: 1,
            updatedAt: NOON,
            snippet: expect.stringMatching(/^The plan: .*…$/),
          },
        ],
      })
    })

    test('what is read is counted, each memory once', async () => {
      const { agent } = await fixture.agent()
      await talk(agent, ['one', 'the plan', 'plan'])
      await search(agent, {})
      const bytes = (texts: readonly string[]) =>
        Buffer.byteLength(texts.join('')) + 2 * texts.length
      expect((await search(agent, {})).looked).toBe(bytes(['the plan', 'plan']))
      expect((await search(agent, { around: 1 })).looked).toBe(bytes(['one', 'the plan', 'plan']))
    })

    test('nothing is beyond the prefix that was asked for, nor beyond that of a key', async () => {
      const { agent, operator } = await fixture.agent()
      await talk(agent, ['one', 'two', 'three', 'the plan', 'five'])
      expect(await keysAround(agent, { around: 2, prefix: 'chat.1' })).toEqual([
        ['(chat.10)', 'chat.11'],
      ])
      const narrow = await fixture.named(operator, { prefix: 'chat.1' })
      expect(await keysAround(narrow, { around: 2 })).toEqual([['(chat.10)', 'chat.11']])
    })

    test('of each hit on a page of a hundred', async () => {
      const { agent } = await fixture.agent()
      const changes = Array.from({ length: 104 }, (_, n) => {
        const write = newWrite({ key: `chat.${n}`, text: n > 1 && n < 102 ? 'plan' : 'other' })
        return { verb: 'write' as const, ...write }
      })
      await fixture.store().changeMemories(agent, changes.slice(0, 52), NOON)
      await fixture.store().changeMemories(agent, changes.slice(52), NOON)
      const { hits } = await search(agent, { limit: 100, around: 2 })
      expect(hits).toHaveLength(100)
      expect(
        hits.filter(({ before, after }) => before?.length !== 2 || after?.length !== 2),
      ).toEqual([])
    })

    test('on a page of pinned ones too, whether or not those beside are pinned', async () => {
      const { agent } = await fixture.agent()
      await talk(agent, ['one'])
      await fixture.write(agent, { key: 'chat.8', text: 'plan', metadata: '{"pinned":true}' })
      expect(await keysAround(agent, { pinned: true, around: 1 })).toEqual([['chat.7', '(chat.8)']])
    })
  })

  test('more vectors than are read at once are all found by the first search', async () => {
    const { agent } = await fixture.agent()
    const vectors = Array.from({ length: 129 }, (_, n) => ({
      ...{ key: `k${n}`, version: 1, vector: Float32Array.of(1) },
    }))
    const writes = vectors.map(({ key }) => ({ verb: 'write' as const, ...newWrite({ key }) }))
    await fixture.store().changeMemories(agent, writes, NOON)
    await fixture.store().storeVectors(agent, 'm', vectors)
    const meant = { model: 'm', vector: Float32Array.of(1) }
    expect((await search(agent, { q: '', meant, limit: 200 })).hits).toHaveLength(129)
  })

  test('a large home is indexed while others are answered', async () => {
    const [large, small] = [await fixture.agent(), await fixture.agent()]
    const changes = Array.from({ length: 1_000 }, (_, n) => {
      const text = `${n % 12 === 1 ? 'plan' : 'note'} ${`word${n} other `.repeat(1_000)}`
      return { verb: 'write' as const, ...newWrite({ key: `k${n}`, text }) }
    })
    // As many at once as a batch may bring: a statement has five seconds.
    for (let n = 0; n < changes.length; n += 100) {
      await fixture.store().changeMemories(large.agent, changes.slice(n, n + 100), NOON)
    }
    await fixture.write(small.agent, { key: 'a', text: 'plan' })
    const order: string[] = []
    const first = search(large.agent, { limit: 100 }).finally(() => order.push('large'))
    const [{ hits }] = await Promise.all([
      first,
      search(small.agent, {}).finally(() => order.push('small')),
    ])
    expect(order).toEqual(['small', 'large'])
    const names = changes.flatMap(({ key }, n) => (n % 12 === 1 ? [key] : []))
    expect(hits.map(({ key }) => key).toSorted()).toEqual(names.toSorted())
  })
})
