/** A write that is refused is not written, whether it would create or update. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { engines } from '../harness.ts'
import { exported, NOON, newBirth, openFixture, type StoreFixture } from './fixture.ts'

describe.each(engines)('a refused write on $name', (engine) => {
  let fixture: StoreFixture
  beforeAll(async () => {
    fixture = await openFixture(engine)
  })
  afterAll(() => fixture.close())

  const everything = async ({ operator }: Awaited<ReturnType<StoreFixture['agent']>>) => [
    await exported(fixture.store(), operator),
    await fixture.store().readProfile(operator),
    await fixture.store().readActivity(operator, 0),
  ]

  test.each([
    ['create', { key: 'new', expectedVersion: 0 }],
    ['update', { key: 'plan', expectedVersion: 1 }],
  ])('leaves nothing behind: a paused agent’s %s', async (_, write) => {
    const born = await fixture.agent()
    await fixture.write(born.agent, { key: 'plan', text: 'as it was' })
    await fixture.store().setStatus(born.operator, 'paused', NOON)
    const before = await everything(born)
    const answer = await fixture.write(born.agent, { ...write, text: 'written all the same' })
    expect(answer).toEqual({ outcome: 'paused' })
    expect(await everything(born)).toEqual(before)
  })

  test.each([
    ['create', { key: 'new', expectedVersion: 0 }],
    ['update', { key: 'plan', expectedVersion: 1 }],
  ])('leaves nothing behind: a revoked token’s %s', async (_, write) => {
    const born = await fixture.agent()
    await fixture.write(born.agent, { key: 'plan', text: 'as it was' })
    await fixture.store().rotateAgentToken(born.operator, newBirth().agentTokenHash, NOON)
    const before = await everything(born)
    const answer = await fixture.write(born.agent, { ...write, text: 'written all the same' })
    expect(answer).toEqual({ outcome: 'revoked' })
    expect(await everything(born)).toEqual(before)
  })
})
