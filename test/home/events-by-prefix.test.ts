/** What a key with a prefix sees of a long log, and how much of the log is looked at for it. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createEventsByPrefix } from '../../src/home/events-by-prefix.ts'
import { StoreUnavailable } from '../../src/store/port/errors.ts'
import { type EventStore, ROWS_PER_LOOK } from '../../src/store/port/events.ts'
import type { HomeStore } from '../../src/store/port/home.ts'
import type { Identity } from '../../src/store/port/identity.ts'
import { engines } from '../harness.ts'
import {
  NOON,
  newBirth,
  newWrite,
  noLimits,
  openFixture,
  type StoredAgent,
  type StoreFixture,
} from '../store/fixture.ts'

const HIDDEN = 2_500

/** The last look may begin before the log does. */
function onceThrough(rows: number): number {
  expect(rows).toBeGreaterThanOrEqual(HIDDEN)
  expect(rows).toBeLessThan(HIDDEN + ROWS_PER_LOOK)
  return rows
}

describe.each(engines)('the events that a key with a prefix sees on $name', (engine) => {
  let fixture: StoreFixture
  let born: StoredAgent
  beforeAll(async () => {
    fixture = await openFixture(engine)
  })
  afterAll(() => fixture.close())
  beforeEach(async () => {
    born = await fixture.agent()
  })

  /** So many events of memories that begin with `out.`. */
  async function hidden(count: number, { agent } = born, store: HomeStore = fixture.store()) {
    for (let left = count; left > 0; left -= 500) {
      const writes = Array.from({ length: Math.min(left, 500) }, () => ({
        verb: 'write' as const,
        ...newWrite({ key: `out.${randomUUID()}` }),
      }))
      await store.changeMemories(agent, writes, NOON)
    }
  }

  const keyed = (prefix: string, { agent } = born): Identity => ({
    ...agent,
    key: { id: 'k', name: 'k', access: 'read', prefix, expiresAt: undefined },
  })

  /** The rows that each look went through. */
  function counted(eventsAfter: EventStore['eventsAfter'] = fixture.store().eventsAfter) {
    const looks: number[] = []
    const ask = createEventsByPrefix(async (...asked) => {
      const found = await eventsAfter(...asked)
      if (found.outcome === 'events') looks.push(found.looked)
      return found
    })
    async function seen(identity: Identity, id: number, limit = 100) {
      const found = await ask(identity, id, limit)
      if (found.outcome !== 'events') throw new Error(found.outcome)
      return found
    }
    return { seen, looked: () => looks.splice(0).reduce((sum, each) => sum + each, 0), looks }
  }

  test('a log without any of them is gone through once, for all who ask, and then for what is new', async () => {
    await hidden(HIDDEN)
    const { seen, looked } = counted()
    const nobody = keyed('in.')
    const { looked: paid, ...found } = await seen(nobody, 0)
    expect(found).toMatchObject({ events: [], newest: 0, missed: false })
    expect(paid).toBe(onceThrough(looked()))
    await Promise.all(Array.from({ length: 32 }, () => seen(nobody, 0)))
    expect(looked()).toBe(0)
    await hidden(3)
    await Promise.all(Array.from({ length: 32 }, () => seen(nobody, 0)))
    expect(looked()).toBe(3)
  })

  test('what is remembered of one home is not taken for another’s', async () => {
    const other = await fixture.agent()
    await hidden(3)
    await fixture.write(born.agent, { key: 'in.a' })
    await fixture.write(other.agent, { key: 'in.b' })
    await hidden(9, other)
    const { seen } = counted()
    for (const [home, newest] of [
      [born, 4],
      [other, 1],
    ] as const) {
      expect(await seen(keyed('in.', home), 0)).toMatchObject({ newest, missed: false })
    }
  })

  test('a page costs all that was looked at for it', async () => {
    await fixture.write(born.agent, { key: 'in.a' })
    await hidden(HIDDEN)
    const { seen, looked } = counted()
    const found = await seen(keyed('in.'), 0)
    expect(found.events).toHaveLength(1)
    expect(found.looked).toBe(looked())
    expect(found.looked).toBeGreaterThan(HIDDEN)
  })

  test('who ask at the same time share the first look', async () => {
    await hidden(HIDDEN)
    const { seen, looked } = counted()
    await Promise.all(Array.from({ length: 32 }, () => seen(keyed('in.'), 0)))
    onceThrough(looked())
  })

  test('who asks behind one that failed is answered', async () => {
    let answers = false
    const { seen } = counted((...asked) => {
      if (answers) return fixture.store().eventsAfter(...asked)
      answers = true
      return Promise.reject(new StoreUnavailable('gone'))
    })
    const asked = [seen(keyed('in.'), 0), seen(keyed('in.'), 0)]
    const answered = await Promise.allSettled(asked)
    expect(answered.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
  })

  test('what comes between a look and its page is in the page, and is the newest', async () => {
    await fixture.write(born.agent, { key: 'in.a' })
    const PAGE = 7
    const { seen } = counted(async (identity, id, limit, prefix) => {
      if (limit === PAGE) await fixture.write(born.agent, { key: 'in.b' })
      return fixture.store().eventsAfter(identity, id, limit, prefix)
    })
    const { events, newest } = await seen(keyed('in.'), 0, PAGE)
    expect([events.map(({ key }) => key), newest]).toEqual([['in.a', 'in.b'], 2])
  })

  test('one look goes through so many rows at most, and begins in a turn of its own', async () => {
    await hidden(HIDDEN)
    let turn = 0
    let counting = true
    const count = () => {
      turn++
      if (counting) setImmediate(count)
    }
    count()
    const turns: number[] = []
    const { seen, looks } = counted((...asked) => {
      turns.push(turn)
      return fixture.store().eventsAfter(...asked)
    })
    await Promise.all(Array.from({ length: 8 }, (_, n) => seen(keyed(`in${n}.`), 0)))
    counting = false
    expect(Math.max(...looks)).toBe(ROWS_PER_LOOK)
    expect(turns.length).toBeGreaterThan(8)
    expect(new Set(turns).size).toBe(turns.length)
  })

  test('a page ends after so many rows and is gone on with, until all were seen', async () => {
    await fixture.write(born.agent, { key: 'in.a' })
    await hidden(HIDDEN)
    await fixture.write(born.agent, { key: 'in.b' })
    await hidden(10)
    const { seen } = counted()
    const key = keyed('in.')
    const pages: (readonly [keys: readonly (string | undefined)[], reached: number])[] = []
    for (let after = 0; after < (await seen(key, after)).newest; ) {
      const { events, reached } = await seen(key, after)
      pages.push([events.map((event) => event.key), reached])
      after = reached
    }
    expect(pages).toEqual([
      [['in.a'], ROWS_PER_LOOK],
      [[], 2 * ROWS_PER_LOOK],
      [['in.b'], HIDDEN + 12],
    ])
  })

  test('of the rest it is told no more than that some was pruned, and not how far the log goes', async () => {
    await using few = await openFixture(engine, { events: 200 })
    const there = await few.agent()
    await few.write(there.agent, { key: 'in.a' })
    const { seen } = counted(few.store().eventsAfter)
    const key = keyed('in.', there)
    const id = 1
    expect(await seen(key, 0)).toMatchObject({ events: [{ id }], newest: id, missed: false })
    await hidden(50, there, few.store())
    expect(await seen(key, 0)).toMatchObject({ newest: id, first: id })
    expect(await seen(key, id)).toMatchObject({ newest: id, first: id + 1, missed: false })
    await hidden(500, there, few.store())
    expect(await seen(key, 0)).toMatchObject({ events: [], newest: id, missed: true })
  })

  test('the last of them is found wherever it lies, in a log of which the first were given up too', async () => {
    await using few = await openFixture(engine, { events: 1_500 })
    const there = await few.agent()
    await hidden(1_000, there, few.store())
    await few.write(there.agent, { key: 'in.a' })
    for (const after of [0, 99, 1, 900, 199]) {
      await hidden(after, there, few.store())
      const { seen } = counted(few.store().eventsAfter)
      expect(await seen(keyed('in.', there), 0)).toMatchObject({ newest: 1_001 })
    }
    await hidden(1_000, there, few.store())
    const { seen, looked } = counted(few.store().eventsAfter)
    expect(await seen(keyed('in.', there), 0)).toMatchObject({ events: [], newest: 0 })
    // Nothing is looked for before what is left of it.
    expect(looked()).toBeLessThan(1_500 + 64 + 2 * ROWS_PER_LOOK)
  })

  test('what was remembered is forgotten where the log is another: an older one was restored', async () => {
    await using restored = await openFixture(engine)
    await restored.store().bear({ ...newBirth(), ...born.birth }, noLimits, NOON)
    const identity = await restored.store().identify(born.birth.agentTokenHash)
    if (!identity) throw new Error('the agent is not known')
    await hidden(20)
    await fixture.write(born.agent, { key: 'in.late' })
    await restored.write(identity, { key: 'in.early' })
    let store: EventStore = fixture.store()
    const { seen } = counted((...asked) => store.eventsAfter(...asked))
    const key = keyed('in.')
    expect(await seen(key, 0)).toMatchObject({ newest: 21 })
    store = restored.store()
    expect(await seen(key, 0)).toMatchObject({ newest: 1, events: [{ key: 'in.early' }] })
    expect(await seen(key, 21)).toMatchObject({ newest: 1, missed: true, events: [] })
  })

  test('who may look no longer is refused, and others are not', async () => {
    const { seen } = counted()
    const gone = { ...keyed('in.'), tokenHash: randomUUID() }
    const answers = await Promise.allSettled([seen(gone, 0), seen(keyed('in.'), 0)])
    expect(answers).toMatchObject([
      { status: 'rejected', reason: { message: 'revoked' } },
      { status: 'fulfilled' },
    ])
  })
})
