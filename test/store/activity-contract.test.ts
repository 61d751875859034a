/** What is counted of agents by the day, from every engine. */
import { randomUUID } from 'node:crypto'
import { v7 as uuidv7 } from 'uuid'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hashToken } from '../../src/pipeline/tokens.ts'
import { type CountedCalls, DAYS_KEPT } from '../../src/store/port/activity.ts'
import { openService, stores, type TestService } from '../harness.ts'
import { newBirth, newWrite, noLimits } from './fixture.ts'

const DAY = 20_000
const DAY_MS = 86_400_000
const NONE = { reads: 0, writes: 0, conflicts: 0, refusals: 0 }

describe.each(stores)('activity on $name', (engine) => {
  let service: TestService
  beforeAll(async () => {
    service = await openService(engine)
  })
  afterAll(() => service.close())

  /** Agents of one account, oldest first. */
  async function agents(count: number) {
    const accountId = randomUUID()
    const born = []
    for (let n = 0; n < count; n++) {
      const agentId = uuidv7({ msecs: service.now() })
      const operatorTokenHash = hashToken(randomUUID())
      const account =
        n > 0
          ? { join: accountId }
          : { create: { id: accountId, email: `${accountId}@example.org`, passwordHash: '$x' } }
      const birth = newBirth({ agentId, operatorTokenHash, account })
      await service.store.bear(birth, noLimits, service.now())
      born.push({ agentId, operatorTokenHash })
      service.tick(2)
    }
    return { accountId, born }
  }

  async function one() {
    const { accountId, born } = await agents(1)
    const [agent = { agentId: '', operatorTokenHash: '' }] = born
    const owner = await service.store.identifyOwner(accountId, agent.agentId)
    if (!owner) throw new Error('no owner')
    return { accountId, agentId: agent.agentId, identity: owner.identity }
  }

  const calls = (agentId: string, more: Partial<CountedCalls> = {}): CountedCalls => ({
    ...{ agentId, day: DAY, reads: 0, conflicts: 0, refusals: 0, seenAt: DAY * DAY_MS },
    ...more,
  })

  test('calls add up by the day, beside the writes that were saved', async () => {
    const { agentId, identity } = await one()
    const { store } = service
    const at = DAY * DAY_MS
    await store.writeMemory(identity, newWrite(), at)
    await store.countCalls([calls(agentId, { reads: 2, seenAt: at + 7 })])
    await store.countCalls([
      calls(agentId, { reads: 3, conflicts: 4, refusals: 5, seenAt: at + 5 }),
      calls(agentId, { day: DAY + 2, refusals: 1, seenAt: at + 2 * DAY_MS }),
    ])
    expect(await store.readActivity(identity, DAY)).toMatchObject({
      days: [
        { day: DAY, reads: 5, writes: 1, conflicts: 4, refusals: 5 },
        { day: DAY + 2, reads: 0, writes: 0, conflicts: 0, refusals: 1 },
      ],
      seenAt: at + 2 * DAY_MS,
    })
    const later = await store.readActivity(identity, DAY + 1)
    expect(later).toMatchObject({ days: [{ day: DAY + 2 }] })
  })

  test('days are kept for a month, of calls and of writes, however long an agent is at work', async () => {
    const { agentId, identity } = await one()
    const { store } = service
    const last = DAY + 2 * DAYS_KEPT
    for (let day = DAY; day <= last; day++) {
      await store.countCalls([calls(agentId, { day, reads: 1 })])
      await store.writeMemory(identity, newWrite({ key: `k${day}` }), day * DAY_MS)
    }
    expect(await store.readActivity(identity, 0)).toMatchObject({
      days: Array.from({ length: DAYS_KEPT }, (_, n) => ({
        ...{ day: last - DAYS_KEPT + 1 + n, reads: 1, writes: 1 },
      })),
    })
  })

  test('the latest call of a day is when an agent was seen, in whatever order it is told', async () => {
    const { agentId, identity } = await one()
    for (const seenAt of [5, 9, 7]) await service.store.countCalls([calls(agentId, { seenAt })])
    expect(await service.store.readActivity(identity, 0)).toMatchObject({ seenAt: 9 })
  })

  test('an account’s agents are listed with what was counted on that day', async () => {
    const { accountId, born } = await agents(3)
    const [first, second, third] = born.map(({ agentId }) => agentId)
    const { store } = service
    await store.countCalls([
      calls(first ?? '', { day: DAY - 1, reads: 9, seenAt: 8 }),
      calls(second ?? '', { reads: 1, conflicts: 2, refusals: 3, seenAt: 9 }),
    ])
    const owner = await store.identifyOwner(accountId, third ?? '')
    if (!owner) throw new Error('no owner')
    await store.writeMemory(owner.identity, newWrite({ text: 'x', metadata: '{}' }), DAY * DAY_MS)
    const listed = await store.listAgents(accountId, { limit: 9 }, DAY)
    expect(listed.map(({ seenAt, today, bytes }) => ({ seenAt, today, bytes }))).toEqual([
      { seenAt: 8, today: NONE, bytes: 0 },
      { seenAt: 9, today: { reads: 1, writes: 0, conflicts: 2, refusals: 3 }, bytes: 0 },
      { seenAt: undefined, today: { ...NONE, writes: 1 }, bytes: 3 },
    ])
    const next = await store.listAgents(accountId, { limit: 9 }, DAY + 1)
    expect(next.map(({ today }) => today)).toEqual([NONE, NONE, NONE])
  })

  test('an agent that is gone is left out, and nothing of its counts stays', async () => {
    const [gone, stays] = [await one(), await one()]
    const { store } = service
    await store.countCalls([calls(gone.agentId, { reads: 1 })])
    expect(await store.eraseAgent(gone.identity, service.now())).toEqual({ outcome: 'erased' })
    await store.countCalls([
      calls(gone.agentId, { reads: 1 }),
      calls(stays.agentId, { reads: 1 }),
      calls(randomUUID(), { reads: 1 }),
    ])
    expect(await store.readActivity(stays.identity, DAY)).toMatchObject({ days: [{ reads: 1 }] })
  })

  test('nodes that count at once lose nothing', async () => {
    const { accountId, born } = await agents(4)
    const ids = born.map(({ agentId }) => agentId)
    const all = ids.map((agentId) => calls(agentId, { reads: 1 }))
    await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        service.store.countCalls(n % 2 ? all : all.toReversed()),
      ),
    )
    const listed = await service.store.listAgents(accountId, { limit: 9 }, DAY)
    expect(listed.map(({ today }) => today.reads)).toEqual([20, 20, 20, 20])
  })
})
