/** What an agent left with comes back: all of it or nothing, on every engine. */
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Identity } from '../../src/store/port/identity.ts'
import type { Change, Memory } from '../../src/store/port/memories.ts'
import type { HomeBounds } from '../../src/store/port/store.ts'
import type { ImportOrder, KeptVersion } from '../../src/store/port/transfer.ts'
import { times } from '../effort.ts'
import { stores } from '../harness.ts'
import { checkChain } from './chained.ts'
import { NOON, newWrite, openFixture, type StoreFixture } from './fixture.ts'

const FAIL: ImportOrder = { onConflict: 'fail', dryRun: false }

interface Left {
  readonly memories: readonly Memory[]
  readonly history: readonly KeptVersion[]
}

/** Two at a time, so that the versions of a key are cut apart. */
async function* source(versions: readonly KeptVersion[]) {
  for (let at = 0; at < versions.length; at += 2) yield versions.slice(at, at + 2)
}

const from = (versions: readonly KeptVersion[]) => ({
  [Symbol.asyncIterator]: () => source(versions),
})

/** As a reader of both lists puts them together. */
const versionsOf = ({ memories, history }: Left): KeptVersion[] => {
  const now = new Map(memories.map((memory) => [memory.key, memory]))
  return history.map((kept) => {
    const memory = now.get(kept.key)
    return memory?.version === kept.version ? { ...kept, content: memory } : kept
  })
}

const kept = (key: string, version: number, text: string | undefined): KeptVersion => ({
  ...{ key, version, id: '019a9c5f-1a00-7c11-9d00-6c2f1b3c4d5e' },
  operation: text === undefined ? 'delete' : 'write',
  by: { as: 'agent', via: 'mcp' },
  createdAt: NOON - 9,
  updatedAt: NOON - 9 + version,
  content: text === undefined ? undefined : { text, metadata: '{"n":1e2}' },
})

const keys = ['a', 'b', 'c']

/** What an agent does to one of its keys, whatever is there. */
const step = fc.record({
  verb: fc.constantFrom('write', 'write', 'patch', 'append', 'delete', 'restore', 'rename'),
  key: fc.constantFrom(...keys),
  to: fc.constantFrom(...keys),
  text: fc.constantFrom('x', 'later', 'привіт'),
})

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

describe.each(stores)('imports on $name', (engine) => {
  let fixture: StoreFixture
  /** Opened again with its bounds by whoever needs some. */
  let small: StoreFixture
  beforeAll(async () => {
    fixture = await openFixture(engine)
    small = await openFixture(engine)
  })
  afterAll(async () => {
    await fixture.close()
    await small.close()
  })

  async function leave(identity: Identity, at: StoreFixture = fixture): Promise<Left> {
    const answer = await at.store().exportMemories(identity, '', true)
    if (answer.outcome !== 'export') throw new Error(answer.outcome)
    const memories = (await Array.fromAsync(answer.memories)).flat()
    const all = (await Array.fromAsync(answer.history ?? [])).flat()
    answer.close()
    // Salts are each home's own.
    return { memories, history: all.map(({ salt: _, ...version }) => version) }
  }

  async function events(identity: Identity) {
    const answer = await fixture.store().eventsAfter(identity, 0, 10_000)
    if (answer.outcome !== 'events') throw new Error(answer.outcome)
    return answer.events.map(({ id, type, key, version }) => [id, type, key, version])
  }

  const bring = (
    identity: Identity,
    versions: readonly KeptVersion[],
    order: Partial<ImportOrder> = {},
    at = fixture,
  ) => at.store().importMemories(identity, from(versions), { ...FAIL, ...order }, NOON + 50)

  const make = (identity: Identity, ...changes: Change[]) =>
    fixture.store().changeMemories(identity, changes, NOON)

  /** With what is there, so that most of what is tried is done. */
  async function tryStep(identity: Identity, { verb, key, to, text }: Step) {
    const found = await fixture.store().readMemory(identity, key)
    const version = found.outcome === 'found' ? found.memory.version : 0
    const expected = { key, expectedVersion: version }
    const all = {
      write: { verb: 'write', ...newWrite({ ...expected, text, metadata: '{"a": 1.50}' }) },
      patch: { verb: 'patch', ...expected, text },
      append: { verb: 'append', ...expected, id: randomUUID(), text, maxBytes: 100 },
      delete: { verb: 'delete', ...expected },
      restore: { verb: 'restore', ...expected, version: 1 },
      rename: { verb: 'rename', from: key, to, expectedVersion: version },
    } as const satisfies Record<string, Change>
    await make(identity, all[verb as keyof typeof all])
  }

  test('what an agent did, whatever it was, comes back under a new one as it was', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
        const { agent } = await fixture.agent()
        for (const each of steps) await tryStep(agent, each)
        const left = await leave(agent)
        const { operator } = await fixture.agent()
        const answer = await bring(operator, versionsOf(left))
        expect(answer).toMatchObject({ outcome: 'imported', skipped: 0, conflicts: [] })
        expect(await leave(operator)).toEqual(left)
        const again = await leave(operator)
        const salt = undefined
        for (const { key, version } of again.history) {
          const then = await fixture.store().readVersion(operator, key, version)
          const was = await fixture.store().readVersion(agent, key, version)
          expect({ ...then, salt }).toEqual({ ...was, salt })
        }
        for (const each of [agent, operator]) {
          expect((await checkChain(fixture.store(), each)).faults).toEqual([])
        }
      }),
      { numRuns: times(25) },
    )
  })

  test('what goes on after it gets the next numbers, and each version is an event', async () => {
    const { operator } = await fixture.agent()
    const versions = [
      kept('a', 3, 'old'),
      kept('a', 7, 'new'),
      kept('z', 1, 'x'),
      kept('z', 2, undefined),
    ]
    expect(await bring(operator, versions)).toMatchObject({ imported: 2 })
    await fixture.write(operator, { key: 'a', text: 'newer', expectedVersion: 7 })
    await fixture.write(operator, { key: 'z', text: 'anew', expectedVersion: 0 })
    expect(await events(operator)).toEqual([
      [1, 'begin_import', undefined, undefined],
      [2, 'import', 'a', 3],
      [3, 'import', 'a', 7],
      [4, 'import', 'z', 1],
      [5, 'import', 'z', 2],
      [6, 'end_import', undefined, undefined],
      [7, 'write', 'a', 8],
      [8, 'write', 'z', 3],
    ])
    const { history } = await leave(operator)
    expect(history.map(({ key, version }) => [key, version])).toEqual([
      ...[3, 7, 8].map((n) => ['a', n]),
      ...[1, 2, 3].map((n) => ['z', n]),
    ])
    const profile = await fixture.store().readProfile(operator)
    expect(profile).toMatchObject({ memoryCount: 2, bytes: 'newer'.length + 'anew'.length + 4 })
  })

  test('it happens when it comes, whenever what it brings was written', async () => {
    const { operator } = await fixture.agent()
    await bring(operator, [kept('a', 1, 'x')])
    expect(await fixture.store().eventsAfter(operator, 0, 10)).toMatchObject({
      events: [
        { type: 'begin_import', createdAt: NOON + 50 },
        { type: 'import', key: 'a', createdAt: NOON + 50 },
        { type: 'end_import', createdAt: NOON + 50 },
      ],
    })
    expect(await fixture.store().readMemory(operator, 'a')).toMatchObject({
      memory: { updatedAt: kept('a', 1, 'x').updatedAt },
    })
  })

  test('a protected memory is not replaced, and protection comes along', async () => {
    const { agent, operator } = await fixture.agent()
    for (const key of ['a', 'b']) await fixture.write(agent, { key, text: 'mine' })
    await fixture.store().protectMemory(operator, 'a', true, NOON)
    const versions = ['a', 'b', 'c'].map((key) => kept(key, 9, 'theirs'))
    const all = versions.map((each) => ({ ...each, protected: each.key === 'c' }))
    const told = { conflicts: ['a', 'b'], protected: ['a'] }
    expect(await bring(operator, all, { onConflict: 'replace' })).toEqual({
      ...{ outcome: 'imported', imported: 2, skipped: 1, ...told },
    })
    const { memories } = await leave(agent)
    expect(memories.map(({ key, text, protected: is }) => [key, text, is])).toEqual([
      ['a', 'mine', true],
      ['b', 'theirs', undefined],
      ['c', 'theirs', true],
    ])
  })

  test('a key that has a memory is a conflict: nothing is changed, it is skipped, or replaced', async () => {
    const { agent, operator } = await fixture.agent()
    await fixture.write(agent, { key: 'b', text: 'mine' })
    const versions = [kept('a', 4, 'theirs'), kept('b', 9, 'theirs')]
    const before = await leave(agent)
    expect(await bring(operator, versions)).toEqual({ outcome: 'conflict', conflicts: ['b'] })
    const dry = { dryRun: true, onConflict: 'skip' } as const
    const told = { outcome: 'imported', conflicts: ['b'] }
    expect(await bring(operator, versions, dry)).toEqual({ ...told, imported: 1, skipped: 1 })
    expect(await leave(agent)).toEqual(before)
    expect(await events(agent)).toHaveLength(1)
    const skip = { onConflict: 'skip' } as const
    expect(await bring(operator, versions, skip)).toEqual({ ...told, imported: 1, skipped: 1 })
    expect((await leave(agent)).memories).toMatchObject([{ version: 4 }, { text: 'mine' }])
    const both = await bring(operator, versions, { onConflict: 'replace' })
    expect(both).toEqual({ outcome: 'imported', imported: 2, skipped: 0, conflicts: ['a', 'b'] })
    const { memories, history } = await leave(agent)
    expect(memories).toMatchObject([
      { key: 'a', version: 5, text: 'theirs' },
      { key: 'b', version: 2, text: 'theirs', id: before.memories[0]?.id },
    ])
    // What was there before is still reached from what replaced it.
    expect(history.map(({ key, version }) => [key, version])).toEqual([
      ['a', 4],
      ['a', 5],
      ['b', 1],
      ['b', 2],
    ])
    const by = { as: 'operator', via: 'api' }
    expect(history.at(-1)).toMatchObject({ operation: 'import', by, updatedAt: NOON + 50 })
  })

  test('where something was the numbers go on, and what was deleted elsewhere is left out', async () => {
    const { agent, operator } = await fixture.agent()
    for (const key of ['a', 'b']) {
      await fixture.write(agent, { key })
      await make(agent, { verb: 'delete', key, expectedVersion: 1 })
    }
    const answer = await bring(operator, [
      kept('a', 1, 'back'),
      kept('b', 8, 'x'),
      kept('b', 9, undefined),
    ])
    expect(answer).toEqual({ outcome: 'imported', imported: 1, skipped: 1, conflicts: [] })
    const { memories } = await leave(agent)
    expect(memories).toMatchObject([{ key: 'a', version: 3, text: 'back', createdAt: NOON - 9 }])
  })

  test('under a key that was forgotten no version falls', async () => {
    await small.restart({ events: 1 })
    const { operator } = await small.agent()
    const names = Array.from({ length: 66 }, (_, n) => `k${n}`)
    await bring(
      operator,
      names.flatMap((key) => [kept(key, 4, 'x'), kept(key, 5, undefined)]),
      {},
      small,
    )
    expect(await small.store().readMemory(operator, 'k0')).toEqual({ outcome: 'missing' })
    const back = [kept('k0', 5, 'x'), kept('new', 5, 'x'), kept('newer', 6, 'x')]
    expect(await bring(operator, back, {}, small)).toMatchObject({ imported: 3 })
    const { memories } = await leave(operator, small)
    expect(memories.map(({ key, version }) => [key, version])).toEqual([
      ['k0', 6],
      ['new', 6],
      ['newer', 6],
    ])
  })

  test('history that is left out is told', async () => {
    const { agent, operator } = await fixture.agent()
    await fixture.write(agent, { key: 'b', text: 'mine' })
    await fixture.write(agent, { key: 'c' })
    await make(agent, { verb: 'delete', key: 'c', expectedVersion: 1 })
    const versions = keys.flatMap((key) => [
      kept(key, 1, 'x'),
      kept(key, 2, undefined),
      kept(key, 3, 'y'),
    ])
    for (const dryRun of [true, false]) {
      const skipped = { imported: 2, skipped: 1, conflicts: ['b'], historyLeftOut: 2 }
      expect(await bring(operator, versions, { onConflict: 'skip', dryRun })).toEqual({
        ...{ outcome: 'imported', ...skipped },
      })
    }
    const replaced = await bring(operator, versions, { onConflict: 'replace' })
    expect(replaced).toMatchObject({ imported: 3, historyLeftOut: 6 })
    const { operator: other } = await fixture.agent()
    expect(await bring(other, versions)).toEqual({
      ...{ outcome: 'imported', imported: 3, skipped: 0, conflicts: [] },
    })
  })

  test('a version too high to keep begins anew, and one below is as it was', async () => {
    const { operator } = await fixture.agent()
    const highest = 500_000_000_000
    const versions = [highest - 1, highest, highest + 1].flatMap((version, n) => [
      kept(keys[n] ?? '', version - 1, 'x'),
      kept(keys[n] ?? '', version, 'y'),
    ])
    expect(await bring(operator, versions)).toMatchObject({ imported: 3, historyLeftOut: 1 })
    const { history } = await leave(operator)
    expect(history.map(({ key, version }) => [key, version])).toEqual([
      ...[highest - 2, highest - 1].map((version) => ['a', version]),
      ...[highest - 1, highest].map((version) => ['b', version]),
      ['c', 1],
    ])
  })

  /** What is imported of a key that is known as deleted, until it is forgotten between the two parts. */
  async function historyWhereForgotten(
    before: readonly KeptVersion[],
    after: readonly KeptVersion[],
  ): Promise<number[]> {
    await small.restart({ events: 1 })
    const { operator } = await small.agent()
    const store = small.store()
    const come = (key: string): Change[] => [
      { verb: 'write', ...newWrite({ key, expectedVersion: 0 }) },
      { verb: 'delete', key, expectedVersion: 1 },
    ]
    await store.changeMemories(operator, come('a'), NOON)
    let reads = 0
    async function* slowly() {
      for (const version of before) yield [version]
      // It is counted first, and written then.
      if (reads++ === 1) {
        for (let n = 0; n < 70; n++) await store.changeMemories(operator, come(`k${n}`), NOON)
      }
      for (const version of after) yield [version]
    }
    const source = { [Symbol.asyncIterator]: slowly }
    const answer = await store.importMemories(operator, source, FAIL, NOON + 50)
    expect(answer).toMatchObject({ outcome: 'imported' })
    const { history } = await leave(operator, small)
    return history.flatMap(({ key, version }) => (key === 'a' ? [version] : []))
  }

  test('history that was not written because its key had a number comes when that is forgotten', async () => {
    const before = [5, 6, 7].map((version) => kept('a', version, 'x'))
    expect(await historyWhereForgotten(before, [kept('a', 9, 'x')])).toEqual([5, 6, 7, 9])
  })

  test('what was written as the next version is as it was when what it followed is forgotten', async () => {
    const before = [kept('a', 9, 'x'), kept('b', 1, 'x')]
    expect(await historyWhereForgotten(before, [kept('c', 1, 'x')])).toEqual([9])
  })

  test('a source that breaks has changed nothing, and neither has one that is over the quota', async () => {
    const { operator } = await fixture.agent()
    async function* breaking() {
      yield [kept('a', 1, 'x')]
      throw new RangeError('broken')
    }
    const source = { [Symbol.asyncIterator]: breaking }
    await expect(fixture.store().importMemories(operator, source, FAIL, NOON)).rejects.toThrow(
      'broken',
    )
    expect(await leave(operator)).toEqual({ memories: [], history: [] })
    const bounds: Partial<HomeBounds> = { memories: 2, bytes: 1_000 }
    await small.restart(bounds)
    const { operator: other } = await small.agent()
    const three = keys.map((key) => kept(key, 1, 'x'))
    expect(await bring(other, three, {}, small)).toEqual({ outcome: 'over_quota' })
    const large = [kept('a', 1, 'x'.repeat(990))]
    expect(await bring(other, [...large, kept('b', 1, 'x')], {}, small)).toEqual({
      outcome: 'over_quota',
    })
    expect(await leave(other, small)).toEqual({ memories: [], history: [] })
    expect(await bring(other, large, {}, small)).toMatchObject({ imported: 1 })
  })

  test('what is imported is no history of another memory whose own was pruned', async () => {
    await small.restart({ bytes: 400 })
    const { agent, operator } = await small.agent()
    const four = (key: string) => [1, 2, 3, 4].map((version) => kept(key, version, key.repeat(40)))
    await bring(operator, four('d'), {}, small)
    await small.write(agent, { key: 'large', text: 'x'.repeat(330) })
    const versions = async () => {
      const found = await small.store().listVersions(operator, 'd', undefined, 10)
      return found.outcome === 'versions' && found.versions.map(({ version }) => version)
    }
    expect(await versions()).toEqual([4])
    await small.store().eraseMemory(operator, 'large', 'all', NOON)
    await bring(operator, four('a'), {}, small)
    expect(await versions()).toEqual([4])
  })

  test('what is over the bytes of a home is of its history the oldest', async () => {
    await small.restart({ bytes: 1_000 })
    const { operator } = await small.agent()
    const versions = Array.from({ length: 9 }, (_, n) => kept('a', n + 1, 'x'.repeat(190)))
    expect(await bring(operator, versions, {}, small)).toMatchObject({ imported: 1 })
    const { memories, history } = await leave(operator, small)
    expect(memories).toMatchObject([{ version: 9 }])
    const left = history.map(({ version }) => version)
    expect(left).toEqual([5, 6, 7, 8, 9].slice(-left.length))
    expect(left.at(-1)).toBe(9)
  })

  test('only a token that stands may import', async () => {
    const { operator } = await fixture.agent()
    const stranger = { ...operator, tokenHash: 'unknown' }
    expect(await bring(stranger, [kept('a', 1, 'x')])).toEqual({ outcome: 'revoked' })
  })

  test('beside writes, deletes, renames and erasures all of it is there, or none', async () => {
    for (let round = 0; round < 10; round++) {
      const { agent, operator } = await fixture.agent()
      await fixture.write(agent, { key: 'm' })
      const versions = ['k', 'l', 'n', 'o'].map((key) => kept(key, 2, 'imported'))
      const [answer] = await Promise.all([
        bring(operator, versions),
        fixture.write(agent, { key: 'l', text: 'written' }),
        make(agent, { verb: 'rename', from: 'm', to: 'n', expectedVersion: 1 }),
        make(agent, { verb: 'delete', key: 'o', expectedVersion: 2 }),
        fixture.store().eraseMemory(operator, 'k', 'all', NOON),
        leave(agent),
      ])
      const log = await events(agent)
      expect(log.map(([id]) => id)).toEqual(log.map((_, at) => at + 1))
      const imported = log.flatMap(([id, type]) => (type === 'import' ? [Number(id)] : []))
      if (answer.outcome === 'imported') {
        expect(imported).toEqual([0, 1, 2, 3].map((n) => (imported[0] ?? 0) + n))
      } else {
        expect(answer.outcome).toBe('conflict')
        expect(imported).toEqual([])
      }
      const { memories } = await leave(agent)
      const profile = await fixture.store().readProfile(agent)
      const bytes = memories.reduce(
        (sum, { text, metadata }) => sum + text.length + metadata.length,
        0,
      )
      expect(profile).toMatchObject({ memoryCount: memories.length, bytes })
    }
  })
})
