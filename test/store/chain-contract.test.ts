/** Every event of a home is chained to all before it, from every engine. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Identity } from '../../src/store/port/identity.ts'
import type { Change } from '../../src/store/port/memories.ts'
import type { ImportSource, KeptVersion } from '../../src/store/port/transfer.ts'
import { stores } from '../harness.ts'
import { beginning, checkChain, commitment } from './chained.ts'
import { NOON, newWrite, openFixture, type StoreFixture } from './fixture.ts'

const order = { onConflict: 'replace', dryRun: false } as const

const brought = (...versions: Partial<KeptVersion>[]): ImportSource => ({
  async *[Symbol.asyncIterator]() {
    yield versions.map((each) => ({
      ...{ key: 'brought', id: randomUUID(), version: 1, operation: 'write' as const },
      ...{ by: undefined, createdAt: NOON - 5, updatedAt: NOON - 5 },
      ...{ content: { text: 'from elsewhere', metadata: '{"b":1,"a":2}' }, ...each },
    }))
  },
})

describe.each(stores)('the chain on $name', (engine) => {
  let fixture: StoreFixture
  beforeAll(async () => {
    fixture = await openFixture(engine)
  })
  afterAll(() => fixture.close())

  const change = (identity: Identity, changes: readonly Change[], now = NOON + 5) =>
    fixture.store().changeMemories(identity, changes, now)

  async function whole(identity: Identity, at = fixture) {
    const checked = await checkChain(at.store(), identity)
    expect(checked.faults).toEqual([])
    return checked
  }

  test('a home begins with a hash of its own', async () => {
    const { agent, operator } = await fixture.agent()
    const head = { id: 0, hash: beginning(agent.agentId) }
    const found = { outcome: 'head', head, base: head, createdAt: undefined }
    expect(await fixture.store().readHead(agent)).toEqual(found)
    expect(await fixture.store().readHead(operator)).toEqual(found)
    expect((await whole(agent)).events).toEqual([])
  })

  test('whatever happens is chained, and every text is committed to', async () => {
    const { agent, operator } = await fixture.agent()
    const store = fixture.store()
    await fixture.write(agent, { text: 'one 🌱', metadata: '{"z":1,"a":[]}' })
    await store.writeMemory(agent, newWrite({ text: 'two', expectedVersion: 1 }), NOON + 1)
    // The clock was set back: the event keeps the memory's time.
    await store.writeMemory(agent, newWrite({ text: 'three', expectedVersion: 2 }), NOON - 60_000)
    await store.writeMemory(agent, newWrite({ key: 'other' }), NOON - 60_000)
    await change(agent, [
      { verb: 'patch', key: 'plan', text: 'four', expectedVersion: 3 },
      { verb: 'append', id: randomUUID(), key: 'new', text: 'x', maxBytes: 99 },
      { verb: 'edit', key: 'plan', old: 'fo', new: 'FO', maxBytes: 99 },
      { verb: 'rename', from: 'plan', to: 'moved', expectedVersion: 5 },
      { verb: 'delete', key: 'new', expectedVersion: 1 },
      { verb: 'restore', key: 'new', version: 1, expectedVersion: 0 },
      { verb: 'read', key: 'new' },
    ])
    await change(agent, [{ verb: 'delete', key: 'other', expectedVersion: 1 }])
    // Above the tombstone, whose time is ahead of this write's.
    await store.writeMemory(agent, newWrite({ key: 'other' }), NOON)
    await store.recordEvent(agent, 'export', NOON)
    await store.protectMemory(operator, 'moved', true, NOON)
    await store.setStatus(operator, 'paused', NOON)
    await store.setStatus(operator, 'active', NOON)
    await fixture.named(operator, { name: 'a “key”' })
    const { events, proven, unproven } = await whole(agent)
    expect(events.map(({ type }) => type)).toEqual([
      ...['write', 'write', 'write', 'write', 'patch', 'append', 'edit', 'rename', 'delete'],
      ...['restore', 'delete', 'write', 'export', 'protect', 'pause', 'resume', 'create_key'],
    ])
    expect({ proven, unproven }).toEqual({ proven: 10, unproven: 0 })
  })

  test('a version shows the salt of its commitment', async () => {
    const { agent } = await fixture.agent()
    await fixture.write(agent, { text: 'one' })
    await fixture.write(agent, { text: 'two', expectedVersion: 1 })
    const { events } = await whole(agent)
    for (const [at, text] of ['one', 'two'].entries()) {
      const found = await fixture.store().readVersion(agent, 'plan', at + 1)
      const salt = found.outcome === 'found' ? (found.salt ?? '') : ''
      expect(commitment(salt, { text, metadata: '{}' })).toBe(events[at]?.content)
    }
  })

  test('an erased text leaves a commitment that proves nothing, and the chain whole', async () => {
    const { agent, operator } = await fixture.agent()
    await fixture.write(agent, { text: 'one' })
    await fixture.write(agent, { text: 'two', expectedVersion: 1 })
    await fixture.write(agent, { text: 'three', expectedVersion: 2 })
    const before = (await whole(agent)).events
    await fixture.store().eraseMemory(operator, 'plan', [1], NOON)
    const one = await whole(agent)
    expect(one.events.slice(0, 3)).toEqual(before)
    expect(one.proven).toBe(2)
    await fixture.store().eraseMemory(operator, 'plan', 'all', NOON)
    const all = await whole(agent)
    expect(all.events.slice(0, 3)).toEqual(before)
    expect(all.proven).toBe(0)
  })

  test('an import commits to all that it brought, each version by its own event', async () => {
    const { agent, operator } = await fixture.agent()
    await fixture.write(agent, { key: 'there', text: 'old' })
    const earlier = { key: 'kept', version: 1 }
    const id = randomUUID()
    const source = brought(
      { key: 'brought' },
      { ...earlier, id, content: { text: 'before', metadata: '{}' } },
      { ...earlier, id, version: 2, content: { text: 'after', metadata: '{}' } },
      { key: 'lost', operation: 'delete', content: undefined },
      { key: 'there', content: { text: 'new', metadata: '{}' } },
    )
    const answer = await fixture.store().importMemories(operator, source, order, NOON + 9)
    expect(answer).toMatchObject({ outcome: 'imported', imported: 4 })
    const { events, proven, unproven } = await whole(agent)
    expect(events.map(({ type, key, content }) => [type, key, content !== undefined])).toEqual([
      ['write', 'there', true],
      ['begin_import', undefined, false],
      ['import', 'brought', true],
      ['import', 'kept', true],
      ['import', 'kept', true],
      ['import', 'lost', false],
      ['import', 'there', true],
      ['end_import', undefined, false],
    ])
    expect({ proven, unproven }).toEqual({ proven: 5, unproven: 0 })
    await fixture.write(agent, { key: 'kept', text: 'on', expectedVersion: 2 })
    await fixture.store().rollBack(operator, { to: 1, prefix: '', dryRun: false }, NOON + 20)
    const rolled = await whole(agent)
    expect(rolled.events.map(({ type }) => type)).toContain('rollback')
    expect(rolled.unproven).toBe(0)
  })

  test('who reads under a prefix sees no hash', async () => {
    const { agent } = await fixture.agent()
    await fixture.write(agent)
    const found = await fixture.store().eventsAfter(agent, 0, 10, 'pl')
    expect(found).toMatchObject({ outcome: 'events', previous: undefined })
  })

  test('a page says what it follows, wherever it begins', async () => {
    const { agent } = await fixture.agent()
    for (let version = 0; version < 70; version++) {
      await fixture.write(agent, { expectedVersion: version })
    }
    const { events } = await whole(agent)
    for (const after of [0, 1, 63, 64, 69, 70]) {
      const page = await fixture.store().eventsAfter(agent, after, 2)
      const hash = events[after - 1]?.hash ?? beginning(agent.agentId)
      expect(page).toMatchObject({ previous: { id: after, hash } })
    }
    const ahead = await fixture.store().eventsAfter(agent, 1_000, 2)
    expect(ahead).toMatchObject({ events: [], previous: { id: 70, hash: events[69]?.hash } })
  })

  test('writes at the same time are chained in one order', async () => {
    const { agent } = await fixture.agent()
    await Promise.all(
      Array.from({ length: 40 }, (_, at) => fixture.write(agent, { key: `k${at % 8}.${at}` })),
    )
    expect((await whole(agent)).events).toHaveLength(40)
  })

  test('events that were pruned leave the hash of the last of them', async () => {
    await using few = await openFixture(engine, { events: 64, versions: 3 })
    // Of another home, whose events have the same numbers, none is taken for it.
    const { agent: other } = await few.agent()
    const others = Array.from({ length: 300 }, (_, n) => newWrite({ key: `k${n}` }))
    const writes = others.map((each) => ({ verb: 'write' as const, ...each }))
    await few.store().changeMemories(other, writes, NOON)
    const { agent, operator } = await few.agent()
    const hashes: string[] = []
    for (let version = 0; version < 300; version++) {
      await few.write(agent, { key: `k${version % 3}`, expectedVersion: Math.floor(version / 3) })
      const head = await few.store().readHead(agent)
      if (head.outcome === 'head') hashes.push(head.head.hash)
    }
    const { events } = await whole(agent, few)
    const first = events[0]?.id ?? 0
    expect(first).toBeGreaterThan(100)
    const found = await few.store().readHead(operator)
    expect(found).toMatchObject({ base: { id: first - 1, hash: hashes[first - 2] } })
    await few.restart()
    await whole(agent, few)
  })
})
