/**
 * Imports and rollbacks that take more than one batch: what others see and do meanwhile, and what
 * becomes of one that cannot be finished.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { EventType, HomeEvent } from '../../src/store/port/events.ts'
import type { Identity } from '../../src/store/port/identity.ts'
import type { ImportOrder, KeptVersion } from '../../src/store/port/transfer.ts'
import { times } from '../effort.ts'
import { stores } from '../harness.ts'
import { checkChain } from './chained.ts'
import { NOON, newQuery, openFixture, type StoreFixture } from './fixture.ts'
import { kept } from './kept.ts'
import { unhold } from './unhold.ts'

const REPLACE: ImportOrder = { onConflict: 'replace', dryRun: false }

/** What happens when the version with this index is asked for, at the second reading. */
type Meanwhile = Readonly<Record<number, () => unknown>>

async function* oneByOne(versions: readonly KeptVersion[], meanwhile: Meanwhile) {
  for (const [at, version] of versions.entries()) {
    await meanwhile[at]?.()
    yield [version]
  }
}

const sourceOf = (versions: readonly KeptVersion[], meanwhile: Meanwhile = {}) => {
  let reads = 0
  return { [Symbol.asyncIterator]: () => oneByOne(versions, reads++ > 0 ? meanwhile : {}) }
}

const nameOf = (n: number): string => `k${String(n).padStart(4, '0')}`

/** Three batches, the second of which is being filled at MIDWAY. */
const many = Array.from({ length: 250 }, (_, n) => kept(nameOf(n), 1, 'sent'))
const MIDWAY = 150

/** A batch for each of them, written once the next has come whole. */
const historyOf = (key: string): KeptVersion[] =>
  Array.from({ length: 60 }, (_, n) => kept(key, n + 1, `sent ${n}`))

const fail = () => {
  throw new RangeError('broken')
}

describe.each(stores)('on $name', (engine) => {
  let fixture: StoreFixture
  let url: string
  beforeAll(async () => {
    fixture = await openFixture({
      ...engine,
      async fresh() {
        const database = await engine.fresh()
        url = database.url
        return database
      },
    })
  })
  afterAll(() => fixture.close())

  const bring = (
    identity: Identity,
    versions: readonly KeptVersion[],
    meanwhile?: Meanwhile,
    order = REPLACE,
  ) => fixture.store().importMemories(identity, sourceOf(versions, meanwhile), order, NOON)

  async function eventsOf(identity: Identity): Promise<readonly HomeEvent[]> {
    const log = await fixture.store().eventsAfter(identity, 0, 100_000)
    if (log.outcome !== 'events') throw new Error(log.outcome)
    return log.events
  }

  /** Each run of events of one type once. */
  async function typesOf(identity: Identity): Promise<readonly EventType[]> {
    const types = (await eventsOf(identity)).map(({ type }) => type)
    return types.filter((type, at) => type !== types[at - 1])
  }

  async function contents(identity: Identity): Promise<Record<string, string>> {
    const found: [string, string][] = []
    for (let after: string | undefined; ; ) {
      const query = newQuery({ after, limit: 1_000, whole: true })
      const page = await fixture.store().listMemories(identity, query)
      if (page.outcome !== 'memories') throw new Error(page.outcome)
      found.push(...page.memories.map(({ key, text = '' }): [string, string] => [key, text]))
      after = page.next
      if (after === undefined) return Object.fromEntries(found)
    }
  }

  async function versionOf(identity: Identity, key: string): Promise<number> {
    const found = await fixture.store().readMemory(identity, key)
    return found.outcome === 'found' ? found.memory.version : 0
  }

  const write = async (identity: Identity, key: string, text: string) => {
    const expectedVersion = await versionOf(identity, key)
    return fixture.write(identity, { key, text, expectedVersion })
  }

  /** The process ends, without a chance to settle anything, and starts again. */
  const restart = () => fixture.restart({}, () => unhold(engine, url))

  test('others write between its batches, and can tell that it has not ended', async () => {
    const { agent, operator } = await fixture.agent()
    const seen: unknown[] = []
    const meanwhile = {
      async [MIDWAY]() {
        seen.push(await typesOf(agent), Object.keys(await contents(agent)).length)
        await write(agent, 'own', 'mine')
      },
    }
    expect(await bring(operator, many, meanwhile)).toMatchObject({ imported: 250 })
    expect(seen).toEqual([['begin_import', 'import'], 100])
    expect(await typesOf(agent)).toEqual([
      ...['begin_import', 'import', 'write', 'import', 'end_import'],
    ])
    expect(Object.keys(await contents(agent))).toHaveLength(251)
    expect((await checkChain(fixture.store(), agent)).faults).toEqual([])
  })

  test('what fits one batch is there at once', async () => {
    const { agent, operator } = await fixture.agent()
    const seen: unknown[] = []
    const some = many.slice(0, 100)
    await bring(operator, some, { 99: async () => seen.push(await eventsOf(agent)) })
    expect(seen).toEqual([[]])
    expect(await eventsOf(agent)).toHaveLength(102)
  })

  test('a memory is there with all of its history', async () => {
    const { agent, operator } = await fixture.agent()
    const seen: unknown[] = []
    const look = async () => seen.push(await versionOf(agent, 'a'), await versionOf(agent, 'b'))
    const all = ['a', 'b', 'c'].flatMap(historyOf)
    await bring(operator, all, { 50: look, 119: look, 121: look, 179: look })
    expect(seen).toEqual([0, 0, 0, 0, 60, 0, 60, 0])
    expect(await versionOf(agent, 'b')).toBe(60)
  })

  const theirs = 'theirs'

  test('one whose source breaks is taken back, and what others have changed since stays', async () => {
    const { agent, operator } = await fixture.agent()
    await write(agent, nameOf(5), 'before')
    await write(agent, nameOf(6), 'before')
    const remove = { verb: 'delete', key: nameOf(6), expectedVersion: 1 } as const
    await fixture.store().changeMemories(agent, [remove], NOON)
    const meanwhile = {
      async [MIDWAY]() {
        await write(agent, nameOf(10), theirs)
        await write(agent, nameOf(240), theirs)
        fail()
      },
    }
    await expect(bring(operator, many, meanwhile)).rejects.toThrow('broken')
    expect(await contents(agent)).toEqual({
      ...{ [nameOf(5)]: 'before', [nameOf(10)]: theirs, [nameOf(240)]: theirs },
    })
    expect((await typesOf(agent)).at(-1)).toBe('undo_import')
    const [last] = (await eventsOf(agent)).slice(-1)
    expect(last).toMatchObject({ by: { as: 'operator' } })
    expect((await checkChain(fixture.store(), agent)).faults).toEqual([])
    // Nothing of it keeps the next from its end.
    expect(await bring(operator, many)).toMatchObject({ imported: 250 })
    expect(await contents(agent)).toMatchObject({ [nameOf(5)]: 'sent', [nameOf(249)]: 'sent' })
  })

  test('of one that is taken back nothing stays protected, but what others have protected', async () => {
    const { agent, operator } = await fixture.agent()
    for (const n of [3, 4, 5]) await write(agent, nameOf(n), n === 4 ? 'sent' : 'before')
    const marked = many.map((each) => ({ ...each, protected: true }))
    const meanwhile = {
      async [MIDWAY]() {
        await fixture.store().protectMemory(operator, nameOf(5), true, NOON)
        fail()
      },
    }
    const plain = marked.map((each) =>
      each.key === nameOf(5) ? { ...each, protected: undefined } : each,
    )
    await expect(bring(operator, plain, meanwhile)).rejects.toThrow('broken')
    const isProtected = async (n: number) => {
      const found = await fixture.store().readMemory(agent, nameOf(n))
      return found.outcome === 'found' ? found.memory.protected === true : undefined
    }
    expect([await isProtected(3), await isProtected(4), await isProtected(5)]).toEqual([
      ...[false, false, true],
    ])
  })

  test('what is erased while it comes is not taken for what was there before', async () => {
    const { agent, operator } = await fixture.agent()
    await write(agent, 'a', 'before')
    const [, second = many] = [many, historyOf('b').slice(4)]
    const all = [kept('a', 2, 'sent'), ...second, ...historyOf('c'), ...historyOf('d')]
    const meanwhile = {
      async 150() {
        await fixture.store().eraseMemory(operator, 'a', 'history', NOON)
        await fixture.store().eraseMemory(operator, 'b', [5], NOON)
        fail()
      },
    }
    await expect(bring(operator, all, meanwhile)).rejects.toThrow('broken')
    // What it was is gone, and nobody has deleted it; the other was never there.
    expect(await contents(agent)).toEqual({ a: 'sent' })
  })

  test('a key that a rename has left while it came is empty again once it is taken back', async () => {
    const { agent, operator } = await fixture.agent()
    const from = nameOf(180)
    await write(agent, from, 'before')
    const rename = { verb: 'rename', from, to: 'moved', expectedVersion: 1 } as const
    const meanwhile = {
      [MIDWAY]: () => fixture.store().changeMemories(agent, [rename], NOON),
      240: fail,
    }
    await expect(bring(operator, many, meanwhile)).rejects.toThrow('broken')
    expect(await contents(agent)).toEqual({ moved: 'before' })
  })

  test('what it tells is of all its batches', async () => {
    const { agent, operator } = await fixture.agent()
    const [first, last] = [1, 201]
    for (const n of [first, first + 1, last, last + 1]) await write(agent, nameOf(n), 'before')
    for (const n of [first, last]) {
      await fixture.store().protectMemory(operator, nameOf(n), true, NOON)
    }
    const all = many.flatMap((each) => [each, kept(each.key, 2, 'sent')])
    expect(await bring(operator, all)).toEqual({
      ...{ outcome: 'imported', imported: 248, skipped: 2, historyLeftOut: 2 },
      conflicts: [first, first + 1, last, last + 1].map(nameOf),
      protected: [first, last].map(nameOf),
    })
  })

  test('one that fits at its end is not refused for what it takes before', async () => {
    await fixture.restart({ bytes: 40_000 })
    const { agent, operator } = await fixture.agent()
    for (const n of [240, 241]) await write(agent, nameOf(n), 'x'.repeat(15_000))
    const all = many.map(({ key }) => kept(key, 1, 'y'.repeat(100)))
    expect(await bring(operator, all)).toMatchObject({ outcome: 'imported', imported: 250 })
    await fixture.restart({ bytes: 0 })
  })

  test('one that meets a key which came into being is refused, and taken back', async () => {
    const { agent, operator } = await fixture.agent()
    const meanwhile = { [MIDWAY]: () => write(agent, nameOf(240), theirs) }
    const order = { onConflict: 'fail', dryRun: false } as const
    const answer = await bring(operator, many, meanwhile, order)
    expect(answer).toEqual({ outcome: 'conflict', conflicts: [nameOf(240)] })
    expect(await contents(agent)).toEqual({ [nameOf(240)]: theirs })
  })

  test('one that no longer fits is refused, and taken back', async () => {
    await fixture.restart({ memories: 260 })
    const { agent, operator } = await fixture.agent()
    const meanwhile = {
      async [MIDWAY]() {
        for (let n = 0; n < 20; n++) await write(agent, `own${n}`, theirs)
      },
    }
    expect(await bring(operator, many, meanwhile)).toEqual({ outcome: 'over_quota' })
    expect(Object.keys(await contents(agent))).toHaveLength(20)
    await fixture.restart({ memories: 0 })
  })

  test('one whose operator is replaced meanwhile is taken back', async () => {
    const { agent, operator } = await fixture.agent()
    const meanwhile = {
      [MIDWAY]: () =>
        fixture
          .store()
          .replaceOperatorToken(
            operator,
            { tokenHash: 'f'.repeat(64), keyHash: '', salt: '' },
            NOON,
          ),
    }
    expect(await bring(operator, many, meanwhile)).toEqual({ outcome: 'revoked' })
    expect(await contents(agent)).toEqual({})
    expect((await typesOf(agent)).at(-1)).toBe('undo_import')
  })

  test('of one whose agent is erased meanwhile nothing is left', async () => {
    const { operator } = await fixture.agent()
    const meanwhile = { [MIDWAY]: () => fixture.store().eraseAgent(operator, NOON) }
    expect(await bring(operator, many, meanwhile)).toEqual({ outcome: 'revoked' })
    await restart()
  })

  test('one that a process leaves is taken back before the next serves', async () => {
    const { agent, operator } = await fixture.agent()
    await write(agent, nameOf(5), 'before')
    await expect(bring(operator, many, { [MIDWAY]: restart })).rejects.toThrow()
    expect(await contents(agent)).toEqual({ [nameOf(5)]: 'before' })
    expect((await typesOf(agent)).at(-1)).toBe('undo_import')
    const { length } = await eventsOf(agent)
    await restart()
    expect(await eventsOf(agent)).toHaveLength(length)
  })

  test('a memory that is brought again after that has its whole history', async () => {
    const { agent, operator } = await fixture.agent()
    const all = ['a', 'b', 'c'].flatMap(historyOf)
    await expect(bring(operator, all, { 121: fail })).rejects.toThrow('broken')
    expect(await versionOf(agent, 'a')).toBe(0)
    await bring(operator, all)
    const listed = await fixture.store().listVersions(agent, 'a', undefined, 2)
    expect(listed).toMatchObject({
      versions: [
        { version: 62, operation: 'import' },
        { version: 61, operation: 'delete' },
      ],
    })
    const first = await fixture.store().readVersion(agent, 'a', 1)
    expect(first).toMatchObject({ memory: { text: 'sent 0' } })
    expect(await versionOf(agent, 'b')).toBe(60)
  })

  test('what is over the limits of a home goes only when it has ended', async () => {
    await fixture.restart({ versions: 1, bytes: 4_000, events: 70 })
    const { agent, operator } = await fixture.agent()
    const some = many.slice(0, 201)
    for (const { key } of some) await write(agent, key, 'before')
    const before = await contents(agent)
    const meanwhile = {
      async 200() {
        for (let n = 0; n < 70; n++) await write(agent, 'own', 'x'.repeat(20 + n))
        fail()
      },
    }
    await expect(bring(operator, some, meanwhile)).rejects.toThrow('broken')
    expect(await contents(agent)).toEqual({ ...before, own: 'x'.repeat(89) })
    const log = await fixture.store().eventsAfter(agent, 0, 1)
    if (log.outcome !== 'events') throw new Error(log.outcome)
    expect(log.last - log.first).toBeLessThan(70 + 64)
    await fixture.restart({ versions: 0, bytes: 0, events: 0 })
  })

  test('a rollback that a process leaves is finished before the next serves', async () => {
    const { agent, operator } = await fixture.agent()
    const count = 2_000
    const all = Array.from({ length: count }, (_, n) => kept(nameOf(n), 1, 'then'))
    await bring(operator, all)
    await write(agent, 'kept', 'before')
    const then = (await eventsOf(agent)).length
    const run = 'later'
    await bring(
      { ...operator, run },
      all.map(({ key }) => kept(key, 1, 'later')),
    )
    // By another author, out of its prefix, and by no run.
    await write(agent, 'kept', theirs)
    await write({ ...operator, run }, 'own', theirs)
    await write(operator, 'kin', theirs)
    const order = { to: then, prefix: 'k', by: 'operator', run, dryRun: false }
    const rolling = fixture
      .store()
      .rollBack(operator, order, NOON)
      .catch(() => 'cut off')
    let log = await fixture.store().eventsAfter(agent, then + count, 100)
    for (; log.outcome === 'events'; ) {
      if (log.events.some(({ type }) => type === 'rollback')) break
      log = await fixture.store().eventsAfter(agent, then + count, 100)
    }
    // The last that it comes to: it stays as it is.
    const last = nameOf(count - 1)
    const isTheirs = (await write(agent, last, theirs)).outcome === 'saved'
    await restart()
    expect([await rolling, isTheirs]).toEqual(['cut off', true])
    const now = await contents(agent)
    expect(now).toMatchObject({ [last]: theirs, kept: theirs, own: theirs, kin: theirs })
    expect(Object.values(now).filter((text) => text === 'then')).toHaveLength(count - 1)
    const types = await typesOf(agent)
    expect(types.slice(types.indexOf('rollback'))).toEqual(
      expect.arrayContaining(['rollback', 'restore', 'write', 'end_rollback']),
    )
    expect(types.at(-1)).toBe('end_rollback')
    expect((await checkChain(fixture.store(), agent)).faults).toEqual([])
  })

  test('two into one home come one after the other', async () => {
    const { operator } = await fixture.agent()
    const [first, second] = await Promise.all([bring(operator, many), bring(operator, many)])
    expect([first, second]).toMatchObject([{ conflicts: [] }, { imported: 250 }])
    expect(second).toMatchObject({ conflicts: expect.arrayContaining([nameOf(0)]) })
  })

  test('one that ends leaves alone what goes on in another home', async () => {
    const [one, other] = [await fixture.agent(), await fixture.agent()]
    const seen: unknown[] = []
    const meanwhile = { [MIDWAY]: async () => seen.push(await bring(other.operator, many)) }
    expect(await bring(one.operator, many, meanwhile)).toMatchObject({ imported: 250 })
    expect(seen).toMatchObject([{ imported: 250 }])
    for (const { agent } of [one, other]) expect((await typesOf(agent)).at(-1)).toBe('end_import')
  })

  test('wherever it breaks and whatever others write, only that is changed', async () => {
    const keys = ['a', 'b', 'c', 'd', 'e']
    const key = fc.constantFrom(...keys)
    const all = fc.record({
      before: fc.array(key, { maxLength: 5 }),
      sent: fc.uniqueArray(key, { minLength: 1 }),
      meanwhile: fc.array(fc.record({ key, at: fc.nat(4) }), { maxLength: 4 }),
      breaksIn: fc.nat(4),
      isRestarted: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(all, async ({ before, sent, meanwhile, breaksIn, isRestarted }) => {
        const { agent, operator } = await fixture.agent()
        for (const each of before) await write(agent, each, 'before')
        const expected = await contents(agent)
        const versions = new Map<string, number>()
        const sorted = sent.toSorted()
        const at = Object.fromEntries(
          sorted.map((_, n) => [
            n * 60 + 1,
            async () => {
              for (const each of meanwhile.filter((one) => one.at === n)) {
                await write(agent, each.key, theirs)
                expected[each.key] = theirs
              }
              for (const each of keys) versions.set(each, await versionOf(agent, each))
              if (n < Math.min(breaksIn, sorted.length - 1)) return
              if (isRestarted) await restart()
              fail()
            },
          ]),
        )
        await expect(bring(operator, sorted.flatMap(historyOf), at)).rejects.toThrow()
        expect(await contents(agent)).toEqual(expected)
        for (const each of Object.keys(expected)) {
          expect(await versionOf(agent, each)).toBeGreaterThanOrEqual(versions.get(each) ?? 0)
        }
        expect((await checkChain(fixture.store(), agent)).faults).toEqual([])
      }),
      { numRuns: times(20) },
    )
  })

  test('an import of nothing, and one that is tried, write no event', async () => {
    const { agent, operator } = await fixture.agent()
    await bring(operator, [])
    await bring(operator, many, {}, { ...REPLACE, dryRun: true })
    expect(await eventsOf(agent)).toEqual([])
  })
})
