/** Searches of one agent's memories: whose they are, how they are paged, and what bounds them. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { StoreUnavailable } from '../../../src/store/port/errors.ts'
import type { Identity } from '../../../src/store/port/home.ts'
import type { SearchCursor, SearchQuery } from '../../../src/store/port/keeping/search.ts'
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

  /** A look that would take more than its two seconds is refused: then whoever asked asks again. */
  async function patiently(identity: Identity, query: Partial<SearchQuery>) {
    for (;;) {
      try {
        return await search(identity, query)
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error
      }
    }
  }

  /** Page after page, and how many there were. */
  async function allKeys(identity: Identity, query: Partial<SearchQuery>) {
    const found: string[] = []
    let after: SearchCursor | undefined
    let pages = 0
    do {
      const { hits, next } = await patiently(identity, { ...query, after })
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
          snippet: 'новий',
        },
      ],
      next: undefined,
    })
    expect(await keys(agent, { q: 'old' })).toEqual([])
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
    expect(hits.map(({ snippet }) => snippet).toSorted()).toEqual([
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

  test('a look is bounded, and the next looks on', async () => {
    const { agent } = await fixture.agent()
    // Few of them match: each page after a look's first looks again.
    const isPlan = (n: number) => n % 12 === 1
    const changes = Array.from({ length: 1_100 }, (_, n) => {
      const text = `${isPlan(n) ? 'plan' : 'note'} ${'x'.repeat(16_000)}`
      return { verb: 'write' as const, ...newWrite({ key: `k${n}`, text }) }
    })
    const names = changes.flatMap(({ key }, n) => (isPlan(n) ? [key] : []))
    // As many at once as a batch may bring: a statement has five seconds.
    for (let n = 0; n < changes.length; n += 100) {
      await fixture.store().changeMemories(agent, changes.slice(n, n + 100), NOON)
    }
    const first = await patiently(agent, { q: 'k1 plan', limit: 100 })
    expect(first.hits.length).toBeGreaterThan(0)
    expect(first.next).toBeDefined()
    const { found, pages } = await allKeys(agent, { q: 'plan', limit: 100 })
    expect(found.toSorted()).toEqual(names.toSorted())
    // One look would show them on one; a busy machine ends a look early.
    expect(names.length).toBeLessThan(100)
    expect(pages).toBeGreaterThanOrEqual(2)
  })
})
