/** A home is rolled back to what it was right after an event, on every engine. */
import { randomUUID } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Identity } from '../../src/store/port/identity.ts'
import type { Change } from '../../src/store/port/memories.ts'
import type { RollbackOrder } from '../../src/store/port/transfer.ts'
import { timesPromised } from '../effort.ts'
import { stores } from '../harness.ts'
import { NOON, newQuery, newWrite, openFixture, type StoreFixture } from './fixture.ts'

const keys = ['a', 'b', 'c', 'in.a', 'in.b']

const step = fc.record({
  verb: fc.constantFrom(
    'write',
    'write',
    'patch',
    'append',
    'delete',
    'restore',
    'rename',
    'import',
  ),
  key: fc.constantFrom(...keys),
  to: fc.constantFrom(...keys),
  text: fc.constantFrom('x', 'later', 'привіт'),
  version: fc.integer({ min: 1, max: 4 }),
})

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

type Contents = Readonly<Record<string, string>>

describe.each(stores)('rollback on $name', (engine) => {
  let fixture: StoreFixture
  let now = NOON
  beforeAll(async () => {
    fixture = await openFixture(engine)
  })
  afterAll(() => fixture.close())

  async function contents(identity: Identity): Promise<Contents> {
    const all = newQuery({ whole: true, limit: 1_000 })
    const answer = await fixture.store().listMemories(identity, all)
    if (answer.outcome !== 'memories') throw new Error(answer.outcome)
    return Object.fromEntries(
      answer.memories.map(({ key, text, metadata }) => [key, `${text} ${metadata}`]),
    )
  }

  async function versionOf(identity: Identity, key: string): Promise<number> {
    const found = await fixture.store().readMemory(identity, key)
    return found.outcome === 'found' ? found.memory.version : 0
  }

  async function lastEvent(identity: Identity): Promise<number> {
    const log = await fixture.store().eventsAfter(identity, 0, 1)
    return log.outcome === 'events' ? log.last : -1
  }

  function changeOf({ verb, key, to, text, version }: Step, expectedVersion: number): Change {
    const base = { key, expectedVersion }
    if (verb === 'delete') return { verb, ...base }
    if (verb === 'restore') return { verb, ...base, version }
    if (verb === 'rename') return { verb, from: key, to, expectedVersion }
    if (verb === 'append') return { verb, id: randomUUID(), key, text, maxBytes: 16_384 }
    if (verb === 'patch') return { verb, ...base, metadata: `{"m":"${text}"}` }
    return { verb: 'write', ...newWrite({ ...base, text }) }
  }

  /** The version of another home, with a history. */
  async function* brought({ key, text, version }: Step) {
    const facts = { key, id: randomUUID(), by: undefined, operation: 'write' as const }
    const times = { createdAt: NOON - 9, updatedAt: NOON - 9 }
    const content = { text, metadata: '{}' }
    yield [
      { ...facts, ...times, version, content },
      { ...facts, ...times, version: version + 1, content: { ...content, text: `${text}!` } },
    ]
  }

  /** Changes nothing if it cannot be done. */
  async function take(identity: Identity, operator: Identity, each: Step): Promise<void> {
    now += 1
    if (each.verb === 'import') {
      const source = { [Symbol.asyncIterator]: () => brought(each) }
      const order = { onConflict: 'replace', dryRun: false } as const
      await fixture.store().importMemories(operator, source, order, now)
      return
    }
    const change = changeOf(each, await versionOf(identity, each.key))
    await fixture.store().changeMemories(identity, [change], now)
  }

  const rollBack = (operator: Identity, to: number, more: Partial<RollbackOrder> = {}) =>
    fixture.store().rollBack(operator, { to, prefix: '', dryRun: false, ...more }, ++now)

  /** What a dry run says will be: the texts of the versions that it names. */
  async function foretold(operator: Identity, now: Contents, to: number): Promise<Contents> {
    const answer = await rollBack(operator, to, { dryRun: true })
    if (answer.outcome !== 'rolled_back') throw new Error(answer.outcome)
    const after = { ...now }
    for (const { key, was } of answer.changes) {
      delete after[key]
      const found = was && (await fixture.store().readVersion(operator, was.key, was.version))
      if (found?.outcome === 'found') {
        after[key] = `${found.memory.text} ${found.memory.metadata}`
      }
      expect(after[key]).not.toBe(now[key])
    }
    return after
  }

  const only = (all: Contents, isWanted: (key: string) => boolean): Contents =>
    Object.fromEntries(Object.entries(all).filter(([key]) => isWanted(key)))

  test('whatever happened since, everything is as it was; and a rollback can be rolled back', async () => {
    const histories = fc.tuple(
      fc.array(step, { maxLength: 12 }),
      fc.array(step, { minLength: 1, maxLength: 12 }),
    )
    const property = fc.asyncProperty(histories, async ([before, since]) => {
      const { agent, operator } = await fixture.agent()
      for (const each of before) await take(agent, operator, each)
      const [then, to] = [await contents(agent), await lastEvent(agent)]
      for (const each of since) await take(agent, operator, each)
      const [later, last] = [await contents(agent), await lastEvent(agent)]

      const foreseen = await rollBack(operator, to, { dryRun: true })
      expect(await foretold(operator, later, to)).toEqual(then)
      expect(await contents(agent)).toEqual(later)
      expect(await lastEvent(agent)).toBe(last)
      const done = await rollBack(operator, to)
      expect(done).toEqual(foreseen)
      expect(done).toMatchObject({ outcome: 'rolled_back', skipped: [] })
      expect(await contents(agent)).toEqual(then)

      expect(await rollBack(operator, last)).toMatchObject({ skipped: [] })
      expect(await contents(agent)).toEqual(later)
      expect(await rollBack(operator, to)).toMatchObject({ skipped: [] })
      expect(await contents(agent)).toEqual(then)
    })
    await fc.assert(property, { numRuns: timesPromised(40) })
  })

  test('under a prefix the rest stays, and of an author what others changed', async () => {
    const { agent, operator } = await fixture.agent()
    const named = await fixture.named(operator)
    const by = named.key.id
    const write = async (who: Identity, name: string, text: string) => {
      const expectedVersion = await versionOf(agent, name)
      const sent = newWrite({ key: name, text, expectedVersion })
      await fixture.store().writeMemory(who, sent, ++now)
    }
    for (const name of ['a', 'b', 'in.a', 'in.b']) await write(agent, name, 'good')
    const [then, to] = [await contents(agent), await lastEvent(agent)]
    for (const name of ['a', 'in.a', 'new']) await write(named, name, 'nonsense')
    await write(agent, 'b', 'better')
    await write(agent, 'in.b', 'better')
    const later = await contents(agent)

    expect(await rollBack(operator, to, { by, prefix: 'in.' })).toEqual({
      ...{ outcome: 'rolled_back', restored: 1, deleted: 0, unchanged: 0, skipped: [] },
      changes: [{ key: 'in.a', was: { key: 'in.a', version: 1 } }],
    })
    expect(await contents(agent)).toEqual({ ...later, 'in.a': then['in.a'] })
    expect(await rollBack(operator, to, { by })).toEqual({
      ...{ outcome: 'rolled_back', restored: 1, deleted: 1, unchanged: 1, skipped: [] },
      changes: [
        { key: 'a', was: { key: 'a', version: 1 } },
        { key: 'new', was: undefined },
      ],
    })
    expect(await contents(agent)).toEqual({
      ...only(then, (name) => name.endsWith('a')),
      ...only(later, (name) => name.endsWith('b')),
    })
    expect(await rollBack(operator, to)).toMatchObject({ restored: 2, deleted: 0, unchanged: 3 })
    expect(await contents(agent)).toEqual(then)
  })

  test('so it is where it takes more than one batch', async () => {
    const { agent, operator } = await fixture.agent()
    const named = await fixture.named(operator)
    const write = (who: Identity, prefix: string, count: number, text: string, before = 0) =>
      fixture.store().changeMemories(
        who,
        Array.from({ length: count }, (_, n) => ({
          ...{ verb: 'write' as const },
          ...newWrite({ key: `${prefix}${n}`, text, expectedVersion: before }),
        })),
        ++now,
      )
    for (const prefix of ['in.bad', 'in.good', 'out.in.bad'])
      await write(agent, prefix, 120, 'then')
    const to = await lastEvent(agent)
    await write(named, 'in.bad', 120, 'nonsense', 1)
    await write(agent, 'in.good', 5, 'better', 1)
    await write(named, 'out.in.bad', 5, 'nonsense', 1)
    const asked = { by: named.key.id, prefix: 'in.' }
    expect(await rollBack(operator, to, asked)).toMatchObject({ restored: 120, unchanged: 0 })
    const texts = Object.entries(await contents(agent)).filter(([, text]) => text !== 'then {}')
    expect(texts.map(([key]) => key.replace(/\d+/, ''))).toEqual([
      ...Array(5).fill('in.good'),
      ...Array(5).fill('out.in.bad'),
    ])
  })

  /** So many events, all of one memory. */
  async function pass(agent: Identity, events: number): Promise<void> {
    const append: Change = {
      verb: 'append',
      id: randomUUID(),
      key: 'log',
      text: '.',
      maxBytes: 999,
    }
    for (let left = events; left > 0; left -= 100) {
      const changes = Array.from({ length: Math.min(left, 100) }, () => append)
      const answer = await fixture.store().changeMemories(agent, changes, ++now)
      expect(answer.outcome).toBe('changed')
    }
  }

  test.each([199, 200, 401])(
    'with %i other events before and since, nothing is missed',
    async (events) => {
      const { agent, operator } = await fixture.agent()
      const { write } = fixture
      for (const key of ['changed', 'moved', 'deleted']) await write(agent, { key, text: 'then' })
      await pass(agent, events)
      const [then, to] = [await contents(agent), await lastEvent(agent)]
      await write(agent, { key: 'moved', text: 'since', expectedVersion: 1 })
      await pass(agent, events)
      await write(agent, { key: 'changed', text: 'since', expectedVersion: 1 })
      await write(agent, { key: 'made', text: 'since' })
      const changes: Change[] = [
        { verb: 'rename', from: 'moved', to: 'elsewhere', expectedVersion: 2 },
        { verb: 'delete', key: 'deleted', expectedVersion: 1 },
      ]
      await fixture.store().changeMemories(agent, changes, ++now)
      expect(await rollBack(operator, to)).toMatchObject({ restored: 4, deleted: 2, skipped: [] })
      expect(await contents(agent)).toEqual(then)
    },
  )

  test('a memory whose history was erased before goes back to its text of then', async () => {
    const { agent, operator } = await fixture.agent()
    await fixture.write(agent, { key: 'a', text: 'one' })
    await fixture.write(agent, { key: 'a', text: 'two', expectedVersion: 1 })
    await fixture.store().eraseMemory(operator, 'a', 'history', ++now)
    const to = await lastEvent(agent)
    await fixture.write(agent, { key: 'a', text: 'three', expectedVersion: 2 })
    expect(await rollBack(operator, to)).toMatchObject({ restored: 1, deleted: 0 })
    expect(await contents(agent)).toEqual({ a: 'two {}' })
  })

  test('metadata that changed alone is what it was', async () => {
    const { agent, operator } = await fixture.agent()
    await fixture.write(agent, { key: 'a', metadata: '{"m":"then"}' })
    const [then, to] = [await contents(agent), await lastEvent(agent)]
    await fixture.write(agent, { key: 'a', metadata: '{"m":"since"}', expectedVersion: 1 })
    expect(await rollBack(operator, to)).toMatchObject({ restored: 1, unchanged: 0 })
    expect(await contents(agent)).toEqual(then)
  })

  test('a key that a rename had left before is empty again', async () => {
    const { agent, operator } = await fixture.agent()
    await fixture.write(agent, { key: 'a', text: 'one' })
    const rename: Change = { verb: 'rename', from: 'a', to: 'b', expectedVersion: 1 }
    await fixture.store().changeMemories(agent, [rename], ++now)
    const [then, to] = [await contents(agent), await lastEvent(agent)]
    await fixture.write(agent, { key: 'a', text: 'two' })
    expect(await rollBack(operator, to)).toMatchObject({ deleted: 1, skipped: [] })
    expect(await contents(agent)).toEqual(then)
  })

  test('a memory that took the place of one that had moved, and moved too, is another', async () => {
    const { agent, operator } = await fixture.agent()
    await fixture.write(agent, { key: 'a', text: 'old' })
    const [then, to] = [await contents(agent), await lastEvent(agent)]
    const move = (name: string, expectedVersion: number): Change => ({
      ...{ verb: 'rename', from: 'a', to: name, expectedVersion },
    })
    await fixture.write(agent, { key: 'a', text: 'later', expectedVersion: 1 })
    await fixture.store().changeMemories(agent, [move('b', 2)], ++now)
    // The version of the first change is gone: the one before it is looked for under the key of now.
    await fixture.store().eraseMemory(operator, 'b', [2], ++now)
    await fixture.write(agent, { key: 'a', text: 'new' })
    await fixture.store().changeMemories(agent, [move('c', await versionOf(agent, 'a'))], ++now)
    expect(await contents(agent)).toEqual({ b: 'later {}', c: 'new {}' })
    expect(await rollBack(operator, to)).toMatchObject({ restored: 1, deleted: 2, skipped: [] })
    expect(await contents(agent)).toEqual(then)
  })

  test('what was erased does not get the text of what was moved to its key', async () => {
    const { agent, operator } = await fixture.agent()
    await fixture.write(agent, { key: 'a', text: 'of a' })
    await fixture.write(agent, { key: 'b', text: 'of b' })
    const to = await lastEvent(agent)
    const change = (each: Change) => fixture.store().changeMemories(agent, [each], ++now)
    await change({ verb: 'delete', key: 'b', expectedVersion: 1 })
    await fixture.store().eraseMemory(operator, 'b', 'all', ++now)
    await change({ verb: 'rename', from: 'a', to: 'b', expectedVersion: 1 })
    expect(await contents(agent)).toEqual({ b: 'of a {}' })
    expect(await rollBack(operator, to)).toMatchObject({ restored: 1, skipped: ['b'] })
    expect(await contents(agent)).toEqual({ a: 'of a {}', b: 'of a {}' })
  })

  test('a version that was erased is not mistaken for an older one', async () => {
    const { agent, operator } = await fixture.agent()
    const { store, write } = fixture
    await write(agent, { key: 'a', text: 'one' })
    await write(agent, { key: 'a', text: 'two', expectedVersion: 1 })
    await write(agent, { key: 'c', text: 'one' })
    await write(agent, { key: 'c', text: 'two', expectedVersion: 1 })
    const then = await lastEvent(agent)
    const rename: Change = { verb: 'rename', from: 'a', to: 'b', expectedVersion: 2 }
    await store().changeMemories(agent, [rename], ++now)
    await write(agent, { key: 'c', text: 'three', expectedVersion: 2 })
    for (const key of ['b', 'c']) await store().eraseMemory(operator, key, [2], ++now)
    expect(await rollBack(operator, then)).toEqual({
      ...{ outcome: 'rolled_back', restored: 1, deleted: 1, unchanged: 0, skipped: ['c'] },
      changes: [
        { key: 'a', was: { key: 'b', version: 3 } },
        { key: 'b', was: undefined },
      ],
    })
    expect(await contents(agent)).toEqual({ a: 'two {}', c: 'three {}' })
  })

  test('what a rename left without a version is skipped', async () => {
    const { agent, operator } = await fixture.agent()
    const { store, write } = fixture
    await write(agent, { key: 'a', text: 'one' })
    await write(agent, { key: 'a', text: 'two', expectedVersion: 1 })
    const then = await lastEvent(agent)
    const rename: Change = { verb: 'rename', from: 'a', to: 'b', expectedVersion: 2 }
    await store().changeMemories(agent, [rename], ++now)
    await write(agent, { key: 'b', text: 'three', expectedVersion: 3 })
    await store().eraseMemory(operator, 'b', [2, 3], ++now)
    expect(await rollBack(operator, then)).toMatchObject({ skipped: ['a'] })
  })

  test('is one event with its parts, by the operator, and each part is a version', async () => {
    const { agent, operator } = await fixture.agent()
    await fixture.write(agent, { key: 'a', text: 'good' })
    await fixture.write(agent, { key: 'a', text: 'nonsense', expectedVersion: 1 })
    await fixture.write(agent, { key: 'b', text: 'nonsense' })
    await rollBack(operator, 1)
    const log = await fixture.store().eventsAfter(agent, 3, 10)
    const by = { as: 'operator', via: 'api' }
    expect(log).toMatchObject({
      events: [
        { id: 4, type: 'rollback', rollback: { to: 1, parts: 2 }, key: undefined, by },
        { id: 5, type: 'restore', key: 'a', version: 3, by },
        { id: 6, type: 'delete', key: 'b', version: 2, by },
        { id: 7, type: 'end_rollback', key: undefined, by },
      ],
      last: 7,
    })
    const versions = await fixture.store().listVersions(agent, 'a', undefined, 10)
    expect(versions).toMatchObject({
      versions: [{ version: 3, operation: 'restore', by }, { version: 2 }, { version: 1 }],
    })
    const kept = await fixture.store().listVersions(agent, 'b', undefined, 10)
    expect(kept).toMatchObject({ versions: [{ version: 2, operation: 'delete' }, { version: 1 }] })
    expect(await rollBack(operator, 1)).toMatchObject({ restored: 0, deleted: 0, unchanged: 2 })
    expect(await lastEvent(agent)).toBe(7)
  })

  test('no memory gets the text of another that came under its key', async () => {
    const { agent, operator } = await fixture.agent()
    const store = fixture.store()
    await fixture.write(agent, { key: 'mine', text: 'my text' })
    await fixture.write(agent, { key: 'theirs', text: 'their text' })
    await fixture.write(agent, { key: 'theirs', text: 'their text 2', expectedVersion: 1 })
    const to = await lastEvent(agent)
    const rename = (from: string, expectedVersion: number) =>
      store.changeMemories(agent, [{ verb: 'rename', from, to: 'q', expectedVersion }], ++now)
    await rename('mine', 1)
    await store.eraseMemory(operator, 'q', 'all', ++now)
    await rename('theirs', 2)
    expect(await rollBack(operator, to)).toMatchObject({ skipped: ['mine'] })
    expect(await contents(agent)).toEqual({ theirs: 'their text 2 {}' })
  })

  test('a memory that an import replaced and a rename moved gets its key and text back', async () => {
    const { agent, operator } = await fixture.agent()
    await fixture.write(agent, { key: 'a', text: 'good' })
    const then = await contents(agent)
    const both = [
      { verb: 'import', key: 'a', to: 'a', text: 'later', version: 1 },
      { verb: 'rename', key: 'a', to: 'b', text: 'x', version: 1 },
    ] as const
    for (const each of both) await take(agent, operator, each)
    expect(Object.keys(await contents(agent))).toEqual(['b'])
    expect(await rollBack(operator, 1)).toMatchObject({ restored: 1, deleted: 1, skipped: [] })
    expect(await contents(agent)).toEqual(then)
  })

  test('a protected memory is rolled back, and stays protected', async () => {
    const { agent, operator } = await fixture.agent()
    await fixture.write(agent, { key: 'a', text: 'good' })
    await fixture.write(agent, { key: 'a', text: 'nonsense', expectedVersion: 1 })
    await fixture.store().protectMemory(operator, 'a', true, now)
    expect(await rollBack(operator, 1)).toMatchObject({ restored: 1 })
    expect(await fixture.store().readMemory(agent, 'a')).toMatchObject({
      memory: { text: 'good', version: 3, protected: true },
    })
  })

  test('beside agents that write on, no acknowledged write is lost, and each is a version', async () => {
    const { agent, operator } = await fixture.agent()
    const store = fixture.store()
    const names = Array.from({ length: 8 }, (_, n) => `k${n}`)
    for (const key of names) await fixture.write(agent, { key, text: 'good' })
    const to = await lastEvent(agent)
    const saved = new Map<string, string[]>(names.map((key) => [key, ['good']]))
    let isOver = false
    let count = 0
    const writer = async (key: string) => {
      for (let n = 0; !isOver; n++) {
        const text = `${key} ${n}`
        const write = newWrite({ key, text, expectedVersion: await versionOf(agent, key) })
        const answer = await store.writeMemory(agent, write, now)
        if (answer.outcome !== 'saved') {
          expect(answer.outcome).toBe('conflict')
          continue
        }
        saved.get(key)?.push(text)
        count++
      }
    }
    const writers = names.map(writer)
    for (let round = 0; round < 4; round++) {
      const before = count
      while (count < before + names.length) await turn()
      expect(await rollBack(operator, to)).toMatchObject({ outcome: 'rolled_back', skipped: [] })
    }
    isOver = true
    await Promise.all(writers)
    const log = await store.eventsAfter(agent, 0, 100_000)
    const all = log.outcome === 'events' ? log.events : []
    expect(all.map(({ id }) => id)).toEqual(all.map((_, at) => at + 1))
    const rollbacks = all.filter(({ type }) => type === 'rollback')
    expect(rollbacks).toHaveLength(4)
    for (const { id, rollback } of rollbacks) {
      const parts = all.slice(id, id + (rollback?.parts ?? 0))
      expect(parts.map(({ type }) => type)).toEqual(parts.map(() => 'restore'))
      expect(parts).not.toHaveLength(0)
      expect(all[id + parts.length]?.type).not.toBe('restore')
    }
    for (const key of names) {
      const answer = await store.listVersions(agent, key, undefined, 100_000)
      const versions = answer.outcome === 'versions' ? answer.versions.toReversed() : []
      expect(versions.map(({ version }) => version)).toEqual(versions.map((_, at) => at + 1))
      const written = versions.filter(({ operation }) => operation !== 'restore')
      const texts: string[] = []
      for (const { version } of written) {
        const found = await store.readVersion(agent, key, version)
        if (found.outcome === 'found') texts.push(found.memory.text)
      }
      expect(texts).toEqual(saved.get(key))
    }
  })

  test('a memory that is renamed while a rollback goes on stays where it is', async () => {
    const { agent, operator } = await fixture.agent()
    const store = fixture.store()
    const all = Array.from({ length: 1_000 }, (_, n) => `k${String(n).padStart(3, '0')}`)
    const writeAll = (text: string, expectedVersion: number) =>
      store.changeMemories(
        agent,
        all.map((key) => ({ verb: 'write', ...newWrite({ key, text, expectedVersion }) })),
        now,
      )
    await writeAll('good', 0)
    const to = await lastEvent(agent)
    await writeAll('bad', 1)
    const began = (await lastEvent(agent)) + 1
    const going = rollBack(operator, to)
    while ((await lastEvent(agent)) < began) await turn()
    const rename: Change = { verb: 'rename', from: 'k999', to: 'moved', expectedVersion: 2 }
    expect(await store.changeMemories(agent, [rename], now)).toMatchObject({ outcome: 'changed' })
    expect(await going).toMatchObject({ outcome: 'rolled_back', restored: 999, skipped: [] })
    expect(await store.readMemory(agent, 'moved')).toMatchObject({
      memory: { text: 'bad', version: 3 },
    })
    expect(await versionOf(agent, 'k999')).toBe(0)
  })

  test('what is no longer retained is skipped, and all else is rolled back', async () => {
    const { agent, operator } = await fixture.agent()
    for (const key of ['a', 'b', 'c']) await fixture.write(agent, { key, text: 'good' })
    for (const key of ['a', 'b', 'c']) {
      await fixture.write(agent, { key, text: 'nonsense', expectedVersion: 1 })
    }
    await fixture.store().eraseMemory(operator, 'a', 'all', now)
    await fixture.store().eraseMemory(operator, 'b', [1], now)
    expect(await rollBack(operator, 3)).toEqual({
      ...{ outcome: 'rolled_back', restored: 1, deleted: 0, unchanged: 0, skipped: ['a', 'b'] },
      changes: [{ key: 'c', was: { key: 'c', version: 1 } }],
    })
    expect(Object.keys(await contents(agent))).toEqual(['b', 'c'])
  })

  test('an event that is not there yet, or whose successors are gone, is refused', async () => {
    const few = await openFixture(engine, { events: 64 })
    const { agent, operator } = await few.agent()
    const ask = (to: number) =>
      few.store().rollBack(operator, { to, prefix: '', dryRun: false }, NOON)
    expect(await ask(1)).toEqual({ outcome: 'no_event' })
    for (let n = 0; n < 140; n++) await few.write(agent, { key: `k${n}` })
    const log = await few.store().eventsAfter(agent, 0, 1)
    const first = log.outcome === 'events' ? log.first : 0
    expect(first).toBeGreaterThan(2)
    expect(await ask(first - 2)).toEqual({ outcome: 'event_gone', first })
    expect(await ask(first - 1)).toMatchObject({ outcome: 'rolled_back' })
    await few.close()
  })

  test('what no kept event tells of was there; what follows forgotten deletions was not', async () => {
    await using few = await openFixture(engine, { events: 64 })
    const { agent, operator } = await few.agent()
    await few.write(agent, { key: 'kept', text: 'then' })
    for (let n = 0; n < 128; n += 32) {
      const changes = Array.from({ length: 32 }, (_, at): Change[] => [
        { verb: 'write', ...newWrite({ key: `k${n + at}` }) },
        { verb: 'delete', key: `k${n + at}`, expectedVersion: 1 },
      ]).flat()
      expect((await few.store().changeMemories(agent, changes, ++now)).outcome).toBe('changed')
    }
    const log = await few.store().eventsAfter(agent, 0, 1)
    const to = log.outcome === 'events' ? log.last : 0
    await few.write(agent, { key: 'kept', text: 'since', expectedVersion: 1 })
    expect(await few.write(agent, { key: 'new' })).toMatchObject({ memory: { version: 3 } })
    const order = { to, prefix: '', dryRun: false }
    expect(await few.store().rollBack(operator, order, ++now)).toMatchObject({
      ...{ restored: 1, deleted: 1, skipped: [] },
      changes: [{ key: 'kept' }, { key: 'new', was: undefined }],
    })
    expect(await few.store().readMemory(agent, 'kept')).toMatchObject({ memory: { text: 'then' } })
  })
})
