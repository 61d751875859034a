/** Vectors that clients bring, on every engine: found as long as their texts are current. */
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Identity } from '../../src/store/port/identity.ts'
import type { Change } from '../../src/store/port/memories.ts'
import type { SearchQuery } from '../../src/store/port/search.ts'
import { timesPromised } from '../effort.ts'
import { stores } from '../harness.ts'
import { NOON, newQuery, newWrite, openFixture, type StoreFixture, tally } from './fixture.ts'

const NUMBERS = 2
const MAX_BYTES = 1_000

/** Of length 1, at this angle. */
const at = (degrees: number): Float32Array => {
  const radians = (degrees * Math.PI) / 180
  return Float32Array.of(Math.cos(radians), Math.sin(radians))
}

const cosine = (degrees: number) => expect.closeTo(Math.cos((degrees * Math.PI) / 180), 5)

const keys = ['a', 'b', 'in.a', 'in.b']

const step = fc.record({
  verb: fc.constantFrom(
    ...(['vector', 'vector', 'vector', 'write', 'same', 'patch', 'append', 'edit'] as const),
    ...(['delete', 'restore', 'rename', 'erase', 'forget', 'import', 'batch'] as const),
  ),
  key: fc.constantFrom(...keys),
  to: fc.constantFrom(...keys),
  degrees: fc.integer({ min: 0, max: 180 }),
})

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

describe.each(stores)('vectors on $name', (engine) => {
  let fixture: StoreFixture
  let now = NOON
  beforeAll(async () => {
    fixture = await openFixture(engine, { bytes: MAX_BYTES })
  })
  afterAll(() => fixture.close())

  const store = (identity: Identity, key: string, version: number, vector: Float32Array) =>
    fixture.store().storeVectors(identity, 'm', [{ key, version, vector }])

  const find = async (identity: Identity, overrides: Partial<SearchQuery> = {}) => {
    const meant = { model: 'm', vector: at(0) }
    const query = { q: '', prefix: '', limit: 100, meant, ...overrides }
    const answer = await fixture.store().searchMemories(identity, query)
    if (answer.outcome !== 'hits') throw new Error(answer.outcome)
    return answer.hits.map(({ key, similarity }) => [key, similarity] as const)
  }

  const bytesOf = async (identity: Identity): Promise<number> => {
    const answer = await fixture.store().readProfile(identity)
    return answer.outcome === 'profile' ? answer.bytes : -1
  }

  async function versionOf(identity: Identity, key: string): Promise<number> {
    const found = await fixture.store().readMemory(identity, key)
    return found.outcome === 'found' ? found.memory.version : 0
  }

  /** What is sent for a step; nothing happens if it cannot be done. */
  function changesOf({ verb, key, to }: Step, expectedVersion: number): Change[] {
    const base = { key, expectedVersion }
    const append: Change = { verb: 'append', id: randomUUID(), key, text: '!', maxBytes: 50 }
    switch (verb) {
      case 'write':
        return [{ verb, ...newWrite({ ...base, text: `old ${now}` }) }]
      case 'patch':
        return [{ verb, ...base, metadata: `{"n":${now}}` }]
      case 'same':
        return [{ verb: 'patch', ...base, text: `old ${now}` }]
      case 'append':
        return [append]
      case 'edit':
        return [{ verb, key, old: 'old', new: 'new', maxBytes: 50 }]
      case 'delete':
        return [{ verb, ...base }]
      case 'restore':
        return [{ verb, ...base, version: 1 }]
      case 'rename':
        return [{ verb, from: key, to, expectedVersion }]
      case 'batch':
        return [
          { verb: 'patch', ...base, metadata: '{"b":1}' },
          { verb: 'rename', from: key, to, expectedVersion: expectedVersion + 1 },
        ]
      default:
        return []
    }
  }

  async function* brought(key: string) {
    const times = { createdAt: NOON - 9, updatedAt: NOON - 9 }
    const content = { text: 'old', metadata: '{}' }
    const facts = { key, id: randomUUID(), by: undefined, operation: 'write' as const }
    yield [{ ...facts, ...times, version: 1, content }]
  }

  /** Does the step, and what the model knows of it. */
  async function take(
    { agent, operator }: { agent: Identity; operator: Identity },
    model: Map<string, number>,
    each: Step,
  ): Promise<void> {
    now += 1
    const { verb, key, to, degrees } = each
    const version = await versionOf(agent, key)
    if (verb === 'vector') {
      const answer = await store(agent, key, version || 1, at(degrees))
      if (version === 0) {
        expect(answer).toEqual({
          ...{ outcome: 'stored', stored: 0, stale: [{ key, currentVersion: 0 }] },
        })
      } else model.set(key, degrees)
      return
    }
    if (verb === 'import') {
      const source = { [Symbol.asyncIterator]: () => brought(key) }
      const order = { onConflict: 'replace', dryRun: false } as const
      const answer = await fixture.store().importMemories(operator, source, order, now)
      expect(answer).toMatchObject({ outcome: 'imported' })
      if (answer.outcome === 'imported' && answer.imported > 0) model.delete(key)
      return
    }
    if (verb === 'erase' || verb === 'forget') {
      const which = verb === 'erase' ? 'all' : 'history'
      const { outcome } = await fixture.store().eraseMemory(operator, key, which, now)
      if (outcome === 'erased' && which === 'all') model.delete(key)
      return
    }
    const { outcome } = await fixture.store().changeMemories(agent, changesOf(each, version), now)
    const vector = model.get(key)
    if (outcome !== 'changed' || verb === 'patch') return
    model.delete(key)
    if ((verb === 'rename' || verb === 'batch') && vector !== undefined) model.set(to, vector)
  }

  test('whatever happens, those of current texts are found, and their bytes are counted', async () => {
    const steps = fc.array(step, { minLength: 1, maxLength: 25 })
    const property = fc.asyncProperty(steps, async (all) => {
      const who = await fixture.agent()
      const model = new Map<string, number>()
      for (const key of keys.slice(0, 3)) await fixture.write(who.agent, { key, text: 'old' })
      for (const each of all) {
        await take(who, model, each)
        const expected = [...model].map(([key, degrees]) => [key, cosine(degrees)])
        expect(new Map(await find(who.agent))).toEqual(new Map(expected as []))
      }
      const listed = await fixture.store().listMemories(who.agent, newQuery())
      if (listed.outcome !== 'memories') throw new Error(listed.outcome)
      const texts = listed.memories.map(({ bytes, metadata }) => bytes + metadata.length)
      const held = texts.reduce((sum, bytes) => sum + bytes, model.size * NUMBERS * 4)
      expect(await bytesOf(who.agent)).toBe(held)
    })
    await fc.assert(property, { numRuns: timesPromised(60) })
  })

  test('one that is stored after another moved is found by an index that knows the move', async () => {
    const { agent } = await fixture.agent()
    for (const key of ['a', 'b']) await fixture.write(agent, { key })
    await store(agent, 'a', 1, at(0))
    const moved: Change = { verb: 'rename', from: 'a', to: 'c', expectedVersion: 1 }
    await fixture.store().changeMemories(agent, [moved], now)
    expect(await find(agent)).toEqual([['c', 1]])
    await store(agent, 'b', 1, at(90))
    expect(await find(agent)).toEqual([
      ['c', 1],
      ['b', cosine(90)],
    ])
  })

  test('goes along with its text, and with no other', async () => {
    const { agent } = await fixture.agent()
    const change = (...changes: Change[]) => fixture.store().changeMemories(agent, changes, now)
    await fixture.write(agent, { key: 'a' })
    await store(agent, 'a', 1, at(0))
    const held = await bytesOf(agent)
    expect(await find(agent)).toEqual([['a', 1]])
    await change({ verb: 'patch', key: 'a', expectedVersion: 1, metadata: '{}' })
    expect(await find(agent)).toEqual([['a', 1]])
    await change({ verb: 'rename', from: 'a', to: 'b', expectedVersion: 2 })
    expect(await find(agent)).toEqual([['b', 1]])
    await change(
      { verb: 'patch', key: 'b', expectedVersion: 3, text: 'Step 1' },
      { verb: 'rename', from: 'b', to: 'c', expectedVersion: 4 },
    )
    expect(await find(agent)).toEqual([['c', 1]])
    expect(await bytesOf(agent)).toBe(held)
    await change({ verb: 'patch', key: 'c', expectedVersion: 5, text: 'Step 2' })
    expect(await find(agent)).toEqual([])
    await change({ verb: 'patch', key: 'c', expectedVersion: 6, text: 'Step 1' })
    expect(await find(agent)).toEqual([])
    expect(await bytesOf(agent)).toBe(held - NUMBERS * 4)
  })

  test('is erased with its text, and stays where only earlier versions are erased', async () => {
    const { agent, operator } = await fixture.agent()
    await fixture.write(agent)
    await fixture.write(agent, { expectedVersion: 1 })
    await store(agent, 'plan', 2, at(0))
    await fixture.store().eraseMemory(operator, 'plan', 'history', now)
    expect(await find(agent)).toEqual([['plan', 1]])
    await fixture.store().eraseMemory(operator, 'plan', 'all', now)
    expect(await find(agent)).toEqual([])
    expect(await bytesOf(agent)).toBe(0)
  })

  test('the most similar come first, and of equals the one that changed last', async () => {
    const { agent } = await fixture.agent()
    for (const key of ['a', 'b', 'c', 'd', 'e']) await fixture.write(agent, { key })
    const sent = { a: 90, b: 10, c: 180, d: 10 }
    const vectors = Object.entries(sent).map(([key, degrees]) => ({
      ...{ key, version: 1, vector: at(degrees) },
    }))
    const answer = await fixture.store().storeVectors(agent, 'm', vectors)
    expect(answer).toEqual({ outcome: 'stored', stored: 4, stale: [] })
    const all = await find(agent)
    expect(all.map(([key]) => key)).toEqual(['b', 'd', 'a', 'c'])
    expect(all.map(([, similarity]) => similarity)).toEqual([10, 10, 90, 180].map(cosine))
    const page = await fixture.store().searchMemories(agent, {
      ...{ q: '', prefix: '', limit: 2, meant: { model: 'm', vector: at(0) } },
    })
    expect(page).toMatchObject({ hits: [{ key: 'b' }, { key: 'd' }], next: { shown: 2 } })
  })

  test('of more than are read at once the first search finds the last', async () => {
    await using many = await openFixture(engine)
    const { agent } = await many.agent()
    const last = 256
    const all = Array.from({ length: last + 1 }, (_, n) => `k${n}`)
    const writes = all.map((key) => ({ verb: 'write' as const, ...newWrite({ key }) }))
    await many.store().changeMemories(agent, writes, now)
    const vectors = all.map((key, n) => ({ key, version: 1, vector: at(n < last ? 90 : 0) }))
    await many.store().storeVectors(agent, 'm', vectors)
    const query = { q: '', prefix: '', limit: 1, meant: { model: 'm', vector: at(0) } }
    expect(await many.store().searchMemories(agent, query)).toMatchObject({
      hits: [{ key: `k${last}`, similarity: cosine(0) }],
    })
  })

  test('words and meaning together: what is high in either ranking is found', async () => {
    const { agent } = await fixture.agent()
    const texts = { a: 'the harbour', b: 'a pier', c: 'harbour and pier' }
    for (const [key, text] of Object.entries(texts)) await fixture.write(agent, { key, text })
    await store(agent, 'b', 1, at(5))
    await store(agent, 'c', 1, at(20))
    expect((await find(agent, { q: 'harbour' })).map(([key]) => key)).toEqual(['c', 'a', 'b'])
    expect(await find(agent, { q: 'harbour', meant: undefined })).toEqual([
      ['a', undefined],
      ['c', undefined],
    ])
  })

  test('a memory has one vector, of the model that was named last', async () => {
    const { agent } = await fixture.agent()
    await fixture.write(agent)
    await store(agent, 'plan', 1, at(0))
    const other = { key: 'plan', version: 1, vector: Float32Array.of(0, 0, 1) }
    const mixed = await fixture.store().storeVectors(agent, 'm', [other])
    expect(mixed).toEqual({ outcome: 'other_length', numbers: NUMBERS })
    expect(await find(agent)).toEqual([['plan', 1]])
    await fixture.store().storeVectors(agent, 'longer', [other])
    expect(await find(agent)).toEqual([])
    const meant = { model: 'longer', vector: at(0) }
    const asked = { q: '', prefix: '', limit: 1, meant }
    expect(await fixture.store().searchMemories(agent, asked)).toEqual({
      ...{ outcome: 'other_length', numbers: 3 },
    })
    expect(await find(agent, { meant: { model: 'longer', vector: other.vector } })).toHaveLength(1)
  })

  test('the vector of a protected memory is the operator’s to store, of any model', async () => {
    const { agent, operator } = await fixture.agent()
    await fixture.write(agent, { key: 'rule' })
    await fixture.write(agent, { key: 'other' })
    await store(agent, 'rule', 1, at(5))
    await fixture.store().protectMemory(operator, 'rule', true, NOON)
    const named = await fixture.named(operator)
    for (const by of [agent, named]) {
      expect(await store(by, 'rule', 1, at(170))).toEqual({ outcome: 'protected' })
      const longer = { key: 'rule', version: 1, vector: Float32Array.of(0, 0, 1) }
      expect(await fixture.store().storeVectors(by, 'longer', [longer])).toEqual({
        outcome: 'protected',
      })
      const both = ['rule', 'rule', 'other'].map((key) => ({ key, version: 1, vector: at(90) }))
      expect(await fixture.store().storeVectors(by, 'm', both)).toEqual({
        ...{ outcome: 'stored', stored: 1, stale: [], protected: ['rule'] },
      })
    }
    expect(await find(agent)).toEqual([
      ['rule', cosine(5)],
      ['other', cosine(90)],
    ])
    expect(await store(operator, 'rule', 1, at(180))).toMatchObject({ stored: 1 })
    expect((await find(agent)).map(([key]) => key)).toEqual(['other', 'rule'])
  })

  test('the quota stops them all, and a replaced one counts once', async () => {
    const { agent } = await fixture.agent()
    const most = (MAX_BYTES - 2 * NUMBERS * 4) / 2 - '{}'.length
    await fixture.write(agent, { key: 'a', text: 'a'.repeat(most) })
    await fixture.write(agent, { key: 'b', text: 'b'.repeat(most + 1) })
    const send = (version: number) => {
      const a = { key: 'a', version: 1, vector: at(1) }
      const b = { key: 'b', version, vector: at(2) }
      return fixture.store().storeVectors(agent, 'm', [a, b, b])
    }
    expect(await send(1)).toEqual({ outcome: 'over_quota' })
    expect(await find(agent)).toEqual([])
    await fixture.write(agent, { key: 'b', text: 'b'.repeat(most), expectedVersion: 1 })
    for (const _ of ['stored', 'replaced']) {
      expect(await send(2)).toEqual({ outcome: 'stored', stored: 2, stale: [] })
      expect(await bytesOf(agent)).toBe(MAX_BYTES)
    }
    // What needs no more room is stored in a home that has too much since its limit was lowered.
    await fixture.restart({ bytes: MAX_BYTES - 1 })
    expect(await send(2)).toMatchObject({ outcome: 'stored', stored: 2 })
    await fixture.restart()
  })

  test('a vector has no room beside those of an earlier request', async () => {
    const { agent } = await fixture.agent()
    for (const key of ['a', 'b']) await fixture.write(agent, { key, text: 'x' })
    const vector = new Float32Array(200).fill(Math.sqrt(1 / 200))
    const send = (key: string) =>
      fixture.store().storeVectors(agent, 'm', [{ key, version: 1, vector }])
    expect(await send('a')).toMatchObject({ outcome: 'stored', stored: 1 })
    expect(await send('b')).toEqual({ outcome: 'over_quota' })
    expect(await send('a')).toMatchObject({ outcome: 'stored', stored: 1 })
  })

  test('a text has no room beside vectors, until they are gone', async () => {
    const { agent } = await fixture.agent()
    await fixture.write(agent, { key: 'a', text: 'a' })
    const vector = new Float32Array(200).fill(Math.sqrt(1 / 200))
    await fixture.store().storeVectors(agent, 'm', [{ key: 'a', version: 1, vector }])
    const large = { key: 'b', text: 'b'.repeat(MAX_BYTES - 100) }
    expect(await fixture.write(agent, large)).toEqual({ outcome: 'over_quota', quota: 'bytes' })
    await fixture.write(agent, { key: 'a', text: 'c', expectedVersion: 1 })
    expect(await fixture.write(agent, large)).toMatchObject({ outcome: 'saved' })
  })

  test('at once, each is stored or stale, and the count is exact', async () => {
    const { agent } = await fixture.agent()
    for (const key of keys) await fixture.write(agent, { key, text: 'x' })
    const before = await bytesOf(agent)
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, n) => {
        const key = keys[n % keys.length] ?? ''
        return n % 6 === 5
          ? fixture.write(agent, { key, text: 'y', expectedVersion: 1 })
          : store(agent, key, 1, at(n))
      }),
    )
    expect(tally(answers)).toMatchObject({ stored: 20 })
    const versions = await Promise.all(keys.map((key) => versionOf(agent, key)))
    const kept = keys.filter((_, n) => versions[n] === 1)
    const found = await find(agent)
    expect(found.map(([key]) => key).toSorted()).toEqual(kept)
    expect(await bytesOf(agent)).toBe(before + kept.length * NUMBERS * 4)
  })

  test('a named key finds what is under its prefix, and who may not act stores nothing', async () => {
    const { agent, operator } = await fixture.agent()
    for (const key of ['a', 'in.a']) {
      await fixture.write(agent, { key })
      await store(agent, key, 1, at(0))
    }
    const named = await fixture.named(operator, { prefix: 'in.' })
    expect(await find(named, { prefix: 'in.' })).toEqual([['in.a', 1]])
    await fixture.store().setStatus(operator, 'paused', now)
    expect(await store(agent, 'a', 1, at(0))).toEqual({ outcome: 'paused' })
    await fixture.store().eraseAgent(operator, now)
    expect(await store(agent, 'a', 1, at(0))).toEqual({ outcome: 'revoked' })
  })
})
