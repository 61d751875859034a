/** Exports of one snapshot, from every engine. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Identity } from '../../src/store/port/identity.ts'
import type { Memory } from '../../src/store/port/memories.ts'
import { stores } from '../harness.ts'
import { exported, NOON, openFixture, type StoreFixture } from './fixture.ts'

describe.each(stores)('exports on $name', (engine) => {
  let fixture: StoreFixture
  beforeAll(async () => {
    fixture = await openFixture(engine)
  })
  afterAll(() => fixture.close())

  const fill = async (agent: Identity, count: number, text: string) => {
    for (let n = 0; n < count; n++) await fixture.write(agent, { key: `k${n}`, text })
  }

  const snapshotOf = async (identity: Identity) => {
    const answer = await fixture.store().exportMemories(identity)
    if (answer.outcome !== 'export') throw new Error(`the export was ${answer.outcome}`)
    return answer
  }

  test('an export holds the profile and every memory, ordered by the bytes of its key', async () => {
    const { agent } = await fixture.agent()
    const other = await fixture.agent()
    await fixture.write(other.agent, { key: 'not-mine' })
    const keys = ['b', 'a', 'A', 'Z', '_', '-', '.', '0', '10', '9', 'a.b', 'a-b', 'a_b', 'aB']
    for (const key of keys) await fixture.write(agent, { key, metadata: `{"k":"${key}"}` })
    const snapshot = await snapshotOf(agent)
    expect(snapshot.memoryCount).toBe(keys.length)
    expect(snapshot.profile).toMatchObject({ agentId: agent.agentId, status: 'active' })
    const memories = (await Array.fromAsync(snapshot.memories)).flat()
    snapshot.close()
    expect(memories.map(({ key }) => key)).toEqual(keys.toSorted())
    for (const memory of memories) {
      expect(await fixture.store().readMemory(agent, memory.key)).toEqual({
        outcome: 'found',
        memory,
      })
    }
  })

  test('an export holds the versions that are kept where they are asked for, and then only', async () => {
    const { agent, operator } = await fixture.agent()
    const made = (key: string, version: number, text: string) =>
      fixture.write(agent, {
        key,
        text,
        metadata: `{"n":${version}}`,
        expectedVersion: version - 1,
      })
    await made('b', 1, 'one')
    await made('b', 2, 'two')
    await made('a', 1, 'gone')
    const gone = { verb: 'delete', key: 'a', expectedVersion: 1 } as const
    await fixture.store().changeMemories(operator, [gone], NOON + 5)
    const plain = await snapshotOf(agent)
    plain.close()
    expect(plain.history).toBeUndefined()
    const answer = await fixture.store().exportMemories(agent, '', true)
    if (answer.outcome !== 'export') throw new Error(answer.outcome)
    const [memory] = (await Array.fromAsync(answer.memories)).flat()
    const history = (await Array.fromAsync(answer.history ?? [])).flat()
    answer.close()
    expect(answer.memoryCount).toBe(1)
    const { id, text, metadata } = memory ?? {}
    expect({ text, metadata }).toEqual({ text: 'two', metadata: '{"n":2}' })
    const by = { as: 'agent', via: 'api' }
    const of = { operation: 'write', by, createdAt: NOON, updatedAt: NOON }
    const salt = expect.stringMatching(/^[0-9a-f]{64}$/)
    const deletion = { operation: 'delete', by: { ...by, as: 'operator' }, updatedAt: NOON + 5 }
    expect(history).toEqual([
      {
        ...of,
        key: 'a',
        version: 1,
        id: expect.any(String),
        content: { text: 'gone', metadata: '{"n":1}' },
        salt,
      },
      { ...of, ...deletion, key: 'a', version: 2, id: history[0]?.id, content: undefined },
      { ...of, key: 'b', version: 1, id, content: { text: 'one', metadata: '{"n":1}' }, salt },
      { ...of, key: 'b', version: 2, id, content: undefined, salt },
    ])
  })

  test('an export holds every version of long histories, of every memory', async () => {
    const { agent } = await fixture.agent()
    const [keys, versions] = [20, 11]
    const made = Array.from({ length: keys }, (_, k) =>
      Array.from({ length: versions }, (_, v) => [`k${10 + k}`, v + 1] as const),
    ).flat()
    const changes = made.map(([key]) => ({
      ...{ verb: 'append' as const, id: key, key, text: '.', maxBytes: 99 },
    }))
    await fixture.store().changeMemories(agent, changes, NOON)
    const answer = await fixture.store().exportMemories(agent, '', true)
    if (answer.outcome !== 'export') throw new Error(answer.outcome)
    for await (const _ of answer.memories);
    const history = (await Array.fromAsync(answer.history ?? [])).flat()
    answer.close()
    expect(history.map(({ key, version }) => [key, version])).toEqual(made)
  })

  test('an export holds as many versions as are kept of a memory, and none that is to go', async () => {
    await using few = await openFixture(engine, { versions: 3 })
    const { agent } = await few.agent()
    // Those over the limit go together, a few at a time.
    for (let n = 0; n < 6; n++) await few.write(agent, { expectedVersion: n })
    const answer = await few.store().exportMemories(agent, '', true)
    if (answer.outcome !== 'export') throw new Error(answer.outcome)
    for await (const _ of answer.memories);
    const history = (await Array.fromAsync(answer.history ?? [])).flat()
    answer.close()
    expect(history.map(({ version }) => version)).toEqual([4, 5, 6])
  })

  test('the log in an export holds every event, in order, however many pages they take', async () => {
    const { agent } = await fixture.agent()
    const append = { verb: 'append', id: 'log', key: 'log', text: '.', maxBytes: 999 } as const
    for (const [more, all] of [
      [200, 200],
      [1, 201],
      [200, 401],
    ] as const) {
      const changes = Array.from({ length: more }, () => append)
      await fixture.store().changeMemories(agent, changes, NOON)
      const answer = await fixture.store().exportMemories(agent, '', true)
      if (answer.outcome !== 'export') throw new Error(answer.outcome)
      const { memories, history = [], events } = answer
      for await (const _ of memories);
      for await (const _ of history);
      const ids = (await Array.fromAsync(events?.pages ?? [])).flat().map(({ id }) => id)
      answer.close()
      expect(ids).toEqual(Array.from({ length: all }, (_, n) => n + 1))
    }
  })

  test('an export of nothing is empty', async () => {
    const { agent } = await fixture.agent()
    expect(await exported(fixture.store(), agent)).toEqual([])
  })

  test('writes that go on do not show in an export that began before them', async () => {
    const { agent, operator } = await fixture.agent()
    await fill(agent, 60, 'before'.repeat(2_000))
    const snapshot = await snapshotOf(agent)
    const memories: Memory[] = []
    for await (const batch of snapshot.memories) {
      memories.push(...batch)
      const n = memories.length
      await fixture.write(agent, { key: `k${n % 60}`, text: 'after', expectedVersion: 1 })
      await fixture.write(agent, { key: `zz${n}`, text: 'after' })
      await fixture.store().setStatus(operator, 'active', NOON + n)
    }
    snapshot.close()
    expect(memories).toHaveLength(snapshot.memoryCount)
    expect(memories.every(({ text, version }) => text !== 'after' && version === 1)).toBe(true)
    const now = await exported(fixture.store(), agent)
    expect(now?.some(({ text }) => text === 'after')).toBe(true)
    expect(now?.length).toBeGreaterThan(60)
  })

  test('an export is read in batches, so that a large one never stands in memory', async () => {
    const { agent } = await fixture.agent()
    await fill(agent, 40, 'x'.repeat(16_384))
    const snapshot = await snapshotOf(agent)
    const sizes: number[] = []
    for await (const batch of snapshot.memories) sizes.push(batch.length)
    snapshot.close()
    expect(sizes.length).toBeGreaterThan(3)
    expect(sizes.reduce((sum, size) => sum + size)).toBe(40)
  })

  test('exports at once are each whole', async () => {
    const { agent } = await fixture.agent()
    await fill(agent, 20, 'x'.repeat(16_384))
    const all = await Promise.all(Array.from({ length: 8 }, () => exported(fixture.store(), agent)))
    expect(all.map((memories) => memories?.length)).toEqual(Array(8).fill(20))
  })

  test('an export that is refused holds nothing, and its snapshot least of all', async () => {
    const { agent, operator } = await fixture.agent()
    const store = fixture.store()
    await store.setStatus(operator, 'paused', NOON)
    // More than an engine has connections for exports.
    for (let n = 0; n < 10; n++) {
      expect(await store.exportMemories(agent)).toEqual({ outcome: 'paused' })
    }
    await fixture.write(operator, { key: 'later' })
    expect(await exported(store, operator)).toHaveLength(1)
  })

  test('an export left half-way lets its snapshot go, and may be closed again', async () => {
    const { agent } = await fixture.agent()
    await fill(agent, 20, 'x'.repeat(16_384))
    for (let n = 0; n < 50; n++) {
      const snapshot = await snapshotOf(agent)
      const reader = snapshot.memories[Symbol.asyncIterator]()
      await reader.next()
      snapshot.close()
      snapshot.close()
    }
    expect(await fixture.write(agent, { key: 'later' })).toMatchObject({ outcome: 'saved' })
    expect(await exported(fixture.store(), agent)).toHaveLength(21)
  })
})
