/** How many agents and memories there are, from every engine: exact, whatever happened. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { stores } from '../harness.ts'
import { NOON, newBirth, newWrite, noLimits, openFixture, type StoreFixture } from './fixture.ts'
import { sourceOf } from './import-work.ts'

describe.each(stores)('totals on $name', (engine) => {
  let fixture: StoreFixture
  beforeAll(async () => {
    fixture = await openFixture(engine, { memories: 3 })
    expect(await fixture.store().status()).toMatchObject({ agents: 0, memories: 0 })
  })
  afterAll(() => fixture.close())

  let before = { agents: 0, memories: 0 }
  beforeEach(async () => {
    before = await fixture.store().status()
  })

  /** What came to what there was. */
  const totals = async () => {
    const { agents, memories } = await fixture.store().status()
    return { agents: agents - before.agents, memories: memories - before.memories }
  }

  test('nothing, then each birth and each creation as soon as it is answered', async () => {
    expect(await totals()).toEqual({ agents: 0, memories: 0 })
    const { agent } = await fixture.agent()
    expect(await totals()).toEqual({ agents: 1, memories: 0 })
    await fixture.write(agent)
    expect(await totals()).toEqual({ agents: 1, memories: 1 })
  })

  test('less by what was deleted or erased, more by what is imported', async () => {
    const { agent, operator } = await fixture.agent()
    const store = fixture.store()
    for (const key of ['a', 'b', 'c']) await fixture.write(agent, { key })
    expect(await totals()).toEqual({ agents: 1, memories: 3 })
    await store.eraseMemory(operator, 'a', 'all', NOON)
    expect(await totals()).toEqual({ agents: 1, memories: 2 })
    await store.changeMemories(agent, [{ verb: 'delete', key: 'b', expectedVersion: 1 }], NOON)
    await store.eraseMemory(operator, 'b', 'history', NOON)
    await store.eraseMemory(operator, 'c', 'history', NOON)
    expect(await totals()).toEqual({ agents: 1, memories: 1 })
    const source = sourceOf(() => {
      const { id, key, ...content } = newWrite({ key: 'd' })
      const kept = { id, key, version: 3, operation: 'write', by: undefined } as const
      return [{ ...kept, createdAt: NOON, updatedAt: NOON, content }]
    })
    const order = { onConflict: 'fail', dryRun: false } as const
    await store.importMemories(operator, source, order, NOON)
    expect(await totals()).toEqual({ agents: 1, memories: 2 })
  })

  test('many at once', async () => {
    const born = await Promise.all(Array.from({ length: 8 }, () => fixture.agent()))
    await Promise.all(
      born.flatMap(({ agent }) =>
        Array.from({ length: 5 }, (_, i) => fixture.write(agent, { key: `k${i % 3}` })),
      ),
    )
    expect(await totals()).toEqual({ agents: 8, memories: 24 })
  })

  test('what is answered with no agent and no memory adds none', async () => {
    const account = { id: 'account', email: 'a@example.org', passwordHash: '$argon2id$x' }
    const { birth, agent, operator } = await fixture.agent({ account: { create: account } })
    await fixture.write(agent)
    for (const key of ['b', 'c']) await fixture.write(agent, { key })
    const found = await totals()
    const store = fixture.store()
    const outcomes = [
      await fixture.write(agent, { expectedVersion: 1 }),
      await fixture.write(agent),
      await fixture.write(agent, { key: 'other', expectedVersion: 3 }),
      await fixture.write(agent, { key: 'more' }),
      await fixture.write({ ...agent, tokenHash: 'stranger' }, { key: 'more' }),
      await store.bear(birth, noLimits, NOON),
      await store.bear(newBirth(), { ...noLimits, inAll: 1 }, NOON),
      await store.bear(
        newBirth({ account: { create: { ...account, id: 'other' } } }),
        noLimits,
        NOON,
      ),
      await store.setStatus(operator, 'paused', NOON),
      await fixture.write(agent, { key: 'more' }),
    ].map(({ outcome }) => outcome)
    expect(outcomes).toEqual([
      ...['saved', 'conflict', 'conflict', 'over_quota', 'revoked'],
      ...['known', 'over_limit', 'account_exists', 'profile', 'paused'],
    ])
    expect(await totals()).toEqual(found)
  })

  test('a birth that fails among births and writes that do not', async () => {
    const { agent } = await fixture.agent()
    const store = fixture.store()
    const homeless = newBirth({ account: { join: 'no such account' } })
    const settled = await Promise.allSettled([
      store.writeMemory(agent, newWrite({ key: 'a' }), NOON),
      store.bear(newBirth(), noLimits, NOON),
      store.bear(homeless, noLimits, NOON),
      store.bear(newBirth(), noLimits, NOON),
      store.writeMemory(agent, newWrite({ key: 'b' }), NOON),
    ])
    expect(settled.map(({ status }) => status)).toEqual([
      ...['fulfilled', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
    ])
    expect(await totals()).toEqual({ agents: 3, memories: 2 })
  })

  test('a store that is opened again knows what it holds', async () => {
    const { agent } = await fixture.agent()
    await fixture.write(agent)
    await fixture.restart()
    expect(await totals()).toEqual({ agents: 1, memories: 1 })
    await fixture.write(agent, { key: 'another' })
    expect(await totals()).toEqual({ agents: 1, memories: 2 })
  })
})
