/** Which indexes are kept, within how many bytes, and what is beside each other. */
import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Identity } from '../../../src/store/port/identity.ts'
import type { Change } from '../../../src/store/port/memories.ts'
import { searchWith } from '../../../src/store/search/answering.ts'
import { HomeIndex } from '../../../src/store/search/home-index.ts'
import { Indexes } from '../../../src/store/search/indexes.ts'
import { embedded } from '../../harness.ts'
import { NOON, newWrite, openFixture, type StoreFixture } from '../fixture.ts'
import { openIndexes, sourceOf } from './indexed.ts'

let fixture: StoreFixture
beforeAll(async () => {
  fixture = await openFixture(embedded)
})
afterAll(() => fixture.close())

const query = { q: 'apple', prefix: '', limit: 1 }

/** What one index takes of the memory that each agent of these tests has. */
function bytesOfOne(): number {
  const index = new HomeIndex()
  index.put({ key: 'a', text: 'apple', metadata: '{}', version: 1, createdAt: 0, updatedAt: 0 })
  return index.bytes
}

async function agentWithApple(): Promise<Identity> {
  const { agent } = await fixture.agent()
  await fixture.write(agent, { key: 'a', text: 'apple' })
  return agent
}

async function change(agent: Identity, ...changes: Change[]): Promise<void> {
  const { outcome } = await fixture.store().changeMemories(agent, changes, NOON)
  if (outcome !== 'changed') throw new Error(outcome)
}

const written =
  (text: string) =>
  (key: string): Change => ({ verb: 'write', ...newWrite({ key, text }) })

/** Of which agents memories are read to build an index. */
function openCounted(maxBytes?: number) {
  const built: string[] = []
  const source = sourceOf(fixture.store())
  const indexes = openIndexes(
    {
      ...source,
      readSlice(identity, ...slice) {
        built.push(identity.agentId)
        return source.readSlice(identity, ...slice)
      },
    },
    maxBytes,
  )
  return { ...indexes, built }
}

test('those that were asked last are kept, within the bytes', async () => {
  const [a, b, c] = [await agentWithApple(), await agentWithApple(), await agentWithApple()]
  const { search, built, close } = openCounted(2.5 * bytesOfOne())
  for (const agent of [a, b, a, c, a, b]) await search(agent, query)
  // The third made b the one that was not asked for longest.
  expect(built).toEqual([a, b, c, b].map(({ agentId }) => agentId))
  close()
})

test('one that takes more than all may is used, and not kept', async () => {
  const a = await agentWithApple()
  const { search, built, close } = openCounted(0)
  for (let n = 0; n < 2; n++) expect(await search(a, query)).toMatchObject({ hits: [{ key: 'a' }] })
  expect(built).toHaveLength(2)
  close()
})

test('one that is in use is not given up for others, however much they take', async () => {
  const [a, b] = [await agentWithApple(), await agentWithApple()]
  await fixture.write(a, { key: 'b', text: 'pear' })
  const source = sourceOf(fixture.store(), 1)
  const built: string[] = []
  const others = Promise.withResolvers<void>()
  const { search, close } = openIndexes(
    {
      ...source,
      async readSlice(identity, ...slice) {
        built.push(identity.agentId)
        if (identity.agentId === a.agentId) await others.promise
        return source.readSlice(identity, ...slice)
      },
    },
    0,
  )
  const first = search(a, query)
  expect(await search(b, query)).toMatchObject({ hits: [{ key: 'a' }] })
  others.resolve()
  expect(await first).toMatchObject({ hits: [{ key: 'a' }] })
  expect(built.filter((agentId) => agentId === a.agentId)).toHaveLength(2)
  close()
})

test('searches of one home beside each other build one index', async () => {
  const a = await agentWithApple()
  const { search, built, close } = openCounted()
  const answers = await Promise.all(Array.from({ length: 8 }, () => search(a, query)))
  for (const answer of answers) expect(answer).toMatchObject({ hits: [{ key: 'a' }] })
  expect(built).toHaveLength(1)
  close()
})

test('a key with a prefix has an index of its own, of what it can read', async () => {
  const { agent } = await fixture.agent()
  await fixture.write(agent, { key: 'a.one', text: 'apple' })
  for (let n = 0; n < 3; n++) await fixture.write(agent, { key: `b.${n}`, text: 'aple pie' })
  const { search, close } = openCounted()
  const key = { id: 'k', name: 'k', access: 'read', prefix: 'b.', expiresAt: undefined } as const
  const within = { ...query, prefix: 'b.', limit: 10 }
  await search(agent, query)
  // Were it asked of the whole home, the word would be there, and no misspelling looked for.
  expect(await search({ ...agent, key }, within)).toMatchObject({
    hits: [{ key: 'b.0' }, { key: 'b.1' }, { key: 'b.2' }],
  })
  expect(await search(agent, within)).toMatchObject({ hits: [] })
  close()
})

test('what fails is tried again by the next, from its beginning', async () => {
  const a = await agentWithApple()
  await fixture.write(a, { key: 'b', text: 'apple' })
  const source = sourceOf(fixture.store(), 1)
  let fails = true
  const indexes = openIndexes({
    ...source,
    readSlice(identity, prefix, after) {
      if (!fails || after === '') return source.readSlice(identity, prefix, after)
      fails = false
      throw new Error('the disk is away')
    },
  })
  await expect(indexes.search(a, query)).rejects.toThrow('the disk is away')
  await change(a, { verb: 'delete', key: 'a', expectedVersion: 1 })
  expect(await indexes.search(a, query)).toMatchObject({ hits: [{ key: 'b' }], next: undefined })
  indexes.close()
})

test('what changes while an index is built is in the next answer', async () => {
  const a = await agentWithApple()
  const source = sourceOf(fixture.store())
  let isFirst = true
  const indexes = openIndexes({
    ...source,
    async readSlice(...slice) {
      const read = await source.readSlice(...slice)
      if (isFirst) await fixture.write(a, { key: 'a', text: 'pear', expectedVersion: 1 })
      isFirst = false
      return read
    },
  })
  await indexes.search(a, query)
  expect(await indexes.search(a, { ...query, q: 'pear' })).toMatchObject({ hits: [{ key: 'a' }] })
  indexes.close()
})

test('nothing of an old key is left behind by a rename', async () => {
  const a = await agentWithApple()
  const { search, built, close } = openCounted()
  await search(a, query)
  await change(a, { verb: 'rename', from: 'a', to: 'b', expectedVersion: 1 })
  const found = { hits: [{ key: 'b' }], next: undefined }
  expect(await search(a, query)).toMatchObject(found)
  expect(built).toHaveLength(1)
  close()
})

test('an index catches up however much has happened, without being built anew', async () => {
  const { agent } = await fixture.agent()
  const { search, built, close } = openCounted()
  const keys = Array.from({ length: 150 }, (_, n) => `k${n}`)
  await change(agent, ...keys.map(written('apple')))
  await search(agent, query)
  const builtBy = built.length
  // More than is read at once, of events and of memories.
  const append = { verb: 'append', key: 'k0', text: '.', maxBytes: 16_384 } as const
  const appended = Array.from({ length: 1_000 }, () => ({ ...append, id: randomUUID() }))
  await change(agent, ...appended)
  await change(agent, ...keys.slice(80).map((key) => written('pear')(`${key}.new`)))
  const pears = { ...query, q: 'pear', limit: 100 }
  const found = await search(agent, pears)
  expect(found).toMatchObject({ outcome: 'hits', next: undefined })
  expect(found.outcome === 'hits' && found.hits).toHaveLength(70)
  expect(built).toHaveLength(builtBy)
  close()
})

test('an index of an empty home finds what its first events told of, though they are gone', async () => {
  await using few = await openFixture(embedded, { events: 64 })
  const { agent } = await few.agent()
  const indexes = openIndexes(sourceOf(few.store()))
  expect(await indexes.search(agent, query)).toMatchObject({ hits: [] })
  await few.write(agent, { key: 'first', text: 'apple' })
  // Of few memories: where many have changed, an index is built anew for that alone.
  const append = { verb: 'append', key: 'log', text: '.', maxBytes: 16_384 } as const
  const appended = Array.from({ length: 140 }, () => ({ ...append, id: randomUUID() }))
  expect(await few.store().changeMemories(agent, appended, NOON)).toMatchObject({
    outcome: 'changed',
  })
  expect(await few.store().eventsAfter(agent, 0, 1)).toMatchObject({ missed: true })
  expect(await indexes.search(agent, query)).toMatchObject({ hits: [{ key: 'first' }] })
  indexes.close()
})

test('large homes are built one after the other, and small ones meanwhile', async () => {
  const [first, second, small] = [
    await agentWithApple(),
    await agentWithApple(),
    await agentWithApple(),
  ]
  const source = sourceOf(fixture.store())
  const [gate, arrived] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const ends: string[] = []
  const large = {
    key: 'large',
    text: 'apple '.repeat(800_000),
    metadata: '{}',
    version: 1,
    createdAt: 0,
    updatedAt: 0,
  }
  const indexes = openIndexes({
    ...source,
    async readSlice(identity, prefix, after) {
      if (identity === small) return source.readSlice(identity, prefix, after)
      if (after === '') return { outcome: 'memories', memories: [large], next: 'large' }
      ends.push(identity.agentId)
      arrived.resolve()
      if (identity === first) await gate.promise
      return { outcome: 'memories', memories: [], next: undefined }
    },
  })
  const one = indexes.search(first, query)
  await arrived.promise
  const other = indexes.search(second, query)
  expect(await indexes.search(small, query)).toMatchObject({ hits: [{ key: 'a' }] })
  expect(ends).toEqual([first.agentId])
  gate.resolve()
  expect(await Promise.all([one, other])).toMatchObject([{ outcome: 'hits' }, { outcome: 'hits' }])
  expect(ends).toEqual([first.agentId, second.agentId])
  indexes.close()
})

test('what is forgotten while it is built is not built to its end', async () => {
  const a = await agentWithApple()
  const source = sourceOf(fixture.store())
  const reading = Promise.withResolvers<void>()
  let isForgotten = false
  const indexes = openIndexes({
    ...source,
    async readSlice(...slice) {
      reading.resolve()
      await setImmediate()
      if (isForgotten) return source.readSlice(...slice)
      return { outcome: 'memories', memories: [], next: 'endless' }
    },
  })
  const searching = indexes.search(a, query)
  await reading.promise
  await indexes.forget(a.agentId)
  isForgotten = true
  expect(await searching).toMatchObject({ outcome: 'hits' })
  indexes.close()
})

test('what is forgotten is closed when that answers, also where a search goes on with it', async () => {
  const a = await agentWithApple()
  const source = sourceOf(fixture.store())
  const gate = Promise.withResolvers<void>()
  const reading = Promise.withResolvers<void>()
  const indexes = openIndexes({
    ...source,
    async readSlice(...slice) {
      reading.resolve()
      await gate.promise
      return source.readSlice(...slice)
    },
  })
  const searching = indexes.search(a, query)
  await reading.promise
  let isForgotten = false
  const forgotten = indexes.forget(a.agentId).then(() => {
    isForgotten = true
  })
  await setImmediate()
  expect(isForgotten).toBe(false)
  gate.resolve()
  expect(await searching).toMatchObject({ hits: [{ key: 'a' }] })
  await forgotten
  indexes.close()
})

test('others have their turn between two results, since a snippet may take some time', async () => {
  const agent = await agentWithApple()
  await change(agent, ...Array.from('bcdefghij', written('apple')))
  const source = sourceOf(fixture.store())
  let turns = 0
  const turn = async () => void turns++
  const indexes = new Indexes(source, 1_048_576, turn)
  const turnsOf = async (limit: number) => {
    await searchWith(source, indexes, turn)(agent, { ...query, limit })
    const before = turns
    await searchWith(source, indexes, turn)(agent, { ...query, limit })
    return turns - before
  }
  expect((await turnsOf(10)) - (await turnsOf(1))).toBe(9)
  indexes.close()
})
