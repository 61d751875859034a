/** What others changed since somebody was last there, from every engine. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ROWS_PER_LOOK } from '../../src/store/port/events.ts'
import type { Identity } from '../../src/store/port/identity.ts'
import type { Change } from '../../src/store/port/memories.ts'
import { stores } from '../harness.ts'
import { HOUR_MS, NOON, openFixture, type StoreFixture } from './fixture.ts'

const DAY_MS = 24 * HOUR_MS

describe.each(stores)('what others changed on $name', (engine) => {
  let fixture: StoreFixture
  beforeAll(async () => {
    fixture = await openFixture(engine)
  })
  afterAll(() => fixture.close())

  async function change(by: Identity, changes: readonly Change[], at = NOON) {
    expect((await fixture.store().changeMemories(by, changes, at)).outcome).toBe('changed')
  }

  const append = (key: string): Change => ({
    ...{ verb: 'append', id: crypto.randomUUID(), key, text: '.' },
    maxBytes: 16_384,
  })

  async function others(of: Identity, prefix = '') {
    const found = await fixture.store().eventsByOthers(of, prefix)
    if (found.outcome !== 'others') return found.outcome
    const { events, isWhole } = found
    return {
      keys: events.map(({ type, key, from }) => [type, key, from].join(' ').trim()),
      isWhole,
    }
  }

  test('those after the own last change, oldest first, whoever else made them', async () => {
    const { agent, operator } = await fixture.agent()
    const key = await fixture.named(operator)
    await change(key, [append('before')])
    await change(agent, [append('mine')])
    await change(key, [append('a'), { verb: 'rename', from: 'a', to: 'b', expectedVersion: 1 }])
    await change(operator, [{ verb: 'delete', key: 'b', expectedVersion: 2 }])
    await fixture.store().protectMemory(operator, 'mine', true, NOON)
    const keys = ['append a', 'rename b a', 'delete b']
    expect(await others(agent)).toEqual({ keys, isWhole: true })
    expect(await others(operator)).toEqual({ keys: [], isWhole: true })
    expect(await others(key)).toEqual({ keys: ['delete b'], isWhole: true })
    await fixture.store().recordEvent(agent, 'export', NOON)
    expect(await others(agent)).toEqual({ keys, isWhole: true })
  })

  test('a token that changed nothing is told everything, a named key what came after it', async () => {
    const { agent, operator } = await fixture.agent()
    await change(operator, [append('a')], NOON - 1)
    const key = await fixture.named(operator)
    await change(operator, [append('b')], NOON)
    expect(await others(agent)).toEqual({ keys: ['append a', 'append b'], isWhole: true })
    expect(await others(key)).toEqual({ keys: ['append b'], isWhole: true })
  })

  test('those after the first wake of the last day with one, which is written once a day', async () => {
    const { agent, operator } = await fixture.agent()
    const key = await fixture.named(operator, { access: 'read' })
    const store = fixture.store()
    const wake = async (who: Identity, at: number) => {
      const found = await store.eventsByOthers(who, '')
      if (found.outcome === 'others') await store.noteWake(who, found.last, at)
    }
    await change(operator, [append('before')])
    await wake(agent, NOON)
    await wake(key, NOON + 1)
    await change(operator, [append('after')])
    const { commits } = await store.status()
    await wake(agent, NOON + HOUR_MS)
    expect((await store.status()).commits).toBe(commits)
    expect(await others(agent)).toEqual({ keys: ['append after'], isWhole: true })
    expect(await others(key)).toEqual({ keys: ['append after'], isWhole: true })
    expect(await store.eventsByOthers(agent, '')).toMatchObject({ wokeAt: NOON })
    expect(await store.eventsByOthers(operator, '')).toMatchObject({ wokeAt: undefined })
    await wake(agent, NOON + DAY_MS)
    expect(await others(agent)).toEqual({ keys: [], isWhole: true })
    expect(await others(key)).toEqual({ keys: ['append after'], isWhole: true })
    expect(await store.eventsByOthers(key, '')).toMatchObject({ wokeAt: NOON + 1 })
  })

  test('those of the prefix, under either name', async () => {
    const { agent, operator } = await fixture.agent()
    const key = await fixture.named(operator, { prefix: 'in.' })
    await change(agent, ['out', 'in.a', 'in.b'].map(append))
    await change(agent, [{ verb: 'rename', from: 'in.a', to: 'gone', expectedVersion: 1 }])
    const keys = ['append in.a', 'append in.b', 'rename gone in.a']
    expect(await others(key, 'in.')).toEqual({ keys, isWhole: true })
    await change(key, [append('in.b')])
    expect(await others(key, 'in.')).toEqual({ keys: [], isWhole: true })
  })

  test('of a longer log the newest, and that there may be more', async () => {
    const { agent, operator } = await fixture.agent()
    const key = await fixture.named(operator)
    await change(agent, [append('mine')])
    const many = Array.from({ length: 100 }, () => append('log'))
    for (let n = 0; n < ROWS_PER_LOOK; n += many.length) await change(operator, many, NOON + 1)
    const found = await fixture.store().eventsByOthers(agent, '')
    expect(found).toMatchObject({ isWhole: false, events: { length: ROWS_PER_LOOK } })
    // Nothing is older than the key, and what is not looked at is.
    expect(await others(key, 'none')).toEqual({ keys: [], isWhole: false })
    await fixture.store().noteWake(agent, found.outcome === 'others' ? found.last - 2 : 0, NOON)
    expect(await others(agent)).toEqual({ keys: ['append log', 'append log'], isWhole: true })
  })

  test('what was created where a deleted memory was, however long ago, and what was not', async () => {
    const { agent, operator } = await fixture.agent()
    await change(agent, ['deleted', 'there', 'moved', 'erased'].map(append))
    await change(agent, [
      { verb: 'delete', key: 'deleted', expectedVersion: 1 },
      { verb: 'rename', from: 'moved', to: 'elsewhere', expectedVersion: 1 },
    ])
    await fixture.store().eraseMemory(operator, 'erased', 'all', NOON)
    await change(agent, [append('mine')])
    const keys = ['deleted', 'there', 'moved', 'erased', 'new', 'elsewhere', 'deleted']
    await change(operator, keys.map(append))
    const found = await fixture.store().eventsByOthers(agent, '')
    const events = found.outcome === 'others' ? found.events : []
    expect(events.map(({ key, creates }) => [key, creates])).toEqual([
      ['deleted', true],
      ['there', false],
      ['moved', true],
      ['erased', true],
      ['new', true],
      ['elsewhere', false],
      ['deleted', false],
    ])
  })

  test('who was revoked is told nothing', async () => {
    const { agent } = await fixture.agent()
    expect(await others({ ...agent, tokenHash: '0'.repeat(64) })).toBe('revoked')
  })
})

describe.each(stores)('what others changed in a log that gave way on $name', (engine) => {
  test('is not whole, unless what is missing is older', async () => {
    await using fixture = await openFixture(engine, { events: 64 })
    const { agent, operator } = await fixture.agent()
    const store = fixture.store()
    await fixture.write(agent, { key: 'mine' })
    const fill = async () => {
      for (let n = 0; n < 200; n++) {
        const id = crypto.randomUUID()
        const log = { verb: 'append', id, key: 'log', text: '.', maxBytes: 16_384 } as const
        await store.changeMemories(operator, [log], NOON + n)
      }
    }
    await fill()
    const key = await fixture.named(operator)
    expect(await store.eventsByOthers(agent, '')).toMatchObject({ isWhole: false })
    expect(await store.eventsByOthers(agent, 'other')).toMatchObject({ isWhole: false })
    expect(await store.eventsByOthers(key, 'other')).toMatchObject({ isWhole: false })
    await store.noteWake(agent, 196, NOON)
    const found = await store.eventsByOthers(agent, '')
    expect(found).toMatchObject({ isWhole: true, last: 202, events: { length: 5 } })
    expect(await store.eventsByOthers(agent, 'other')).toMatchObject({ isWhole: true, events: [] })
    await fill()
    expect(await store.eventsByOthers(agent, 'other')).toMatchObject({ isWhole: false })
  })

  test('is whole for a key that is younger than what is missing, also under a prefix', async () => {
    await using fixture = await openFixture(engine, { events: 64 })
    const { agent, operator } = await fixture.agent()
    for (let n = 0; n < 200; n++) {
      const id = crypto.randomUUID()
      const log = { verb: 'append', id, key: 'log', text: '.', maxBytes: 16_384 } as const
      await fixture.store().changeMemories(agent, [log], NOON - 1)
    }
    const key = await fixture.named(operator)
    expect(await fixture.store().eventsByOthers(key, 'other')).toMatchObject({ isWhole: true })
  })
})
