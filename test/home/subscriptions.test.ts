/** Who waits for a home asks nothing: one question a look is for all of them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSubscriptions, notifyingStore } from '../../src/home/subscriptions.ts'
import { OutcomeUnknown } from '../../src/store/port/errors.ts'
import type { Identity } from '../../src/store/port/identity.ts'
import { engines } from '../harness.ts'
import { manualTimers } from '../manual-timers.ts'
import { NOON, openFixture, type StoreFixture } from '../store/fixture.ts'

describe.each(engines)('a subscriptions over homes on $name', (engine) => {
  let fixture: StoreFixture
  beforeAll(async () => {
    fixture = await openFixture(engine)
  })
  afterAll(() => fixture.close())

  /** By hand: the time goes on when the test says so, and what is asked is counted. */
  function open() {
    const time = { now: NOON, ms: 0 }
    const asked: number[] = []
    const manual = manualTimers()
    const subscriptions = createSubscriptions({
      changedHomes(seen) {
        asked.push(seen.size)
        return fixture.store().changedHomes(seen)
      },
      clock: () => time.now,
      ...manual.timers,
      stopwatch: () => time.ms,
    })
    return { subscriptions, asked, time, manual }
  }

  const agents = (count: number) =>
    Promise.all(Array.from({ length: count }, async () => (await fixture.agent()).agent))

  const happen = (identity: Identity) => fixture.store().recordEvent(identity, 'profile', NOON)

  test('one question is for all, and wakes only those of the home that changed', async () => {
    const { subscriptions, asked } = open()
    const all = await agents(30)
    const followers = all.flatMap((agent) => [
      subscriptions.follow(agent),
      subscriptions.follow(agent),
    ])
    const woken: number[] = []
    const waits = followers.map((follower, i) =>
      follower.next(0, 0).then((turn) => {
        if (turn === 'look') woken.push(i)
      }),
    )
    for (let looks = 0; looks < 5; looks++) await subscriptions.look()
    expect({ asked, woken }).toEqual({ asked: [30, 30, 30, 30, 30], woken: [] })
    const [, , third] = all
    if (!third) throw new Error('nobody was born')
    await happen(third)
    await subscriptions.look()
    await Promise.all(waits.slice(4, 6))
    expect(woken).toEqual([4, 5])
    subscriptions.close()
    await Promise.all(waits)
    expect(woken).toEqual([4, 5])
  })

  test('many homes are asked about a thousand at a time, and none without anybody', async () => {
    const { subscriptions, asked, manual } = open()
    await subscriptions.look()
    const [agent] = await agents(1)
    if (!agent) throw new Error('nobody was born')
    const followers = Array.from({ length: 1_500 }, (_, n) =>
      subscriptions.follow(n === 0 ? agent : { ...agent, agentId: `gone ${n}` }),
    )
    const waits = followers.map((follower) => follower.next(0, 0))
    await subscriptions.look()
    expect(asked).toEqual([1_000, 500])
    expect(await Promise.all(waits.slice(1))).toEqual(Array(1_499).fill('look'))
    for (const each of followers) each.leave()
    await subscriptions.look()
    expect(asked).toHaveLength(2)
    expect(await waits[0]).toBe('over')
    manual.pass(1_000)
    expect(manual.waits()).toEqual([])
  })

  test('who sees less than others of its home is woken for what it has not seen', async () => {
    const { subscriptions } = open()
    const [agent] = await agents(1)
    if (!agent) throw new Error('nobody was born')
    await happen(agent)
    const before = subscriptions.follow(agent).next(0, 0)
    const after = subscriptions.follow(agent).next(1, 0)
    await subscriptions.look()
    expect([await before, await after]).toEqual(['look', 'look'])
    subscriptions.close()
  })

  test('it beats when nothing was sent for long, and what is told meanwhile is looked at', async () => {
    const { subscriptions, time } = open()
    const [agent] = await agents(1)
    if (!agent) throw new Error('nobody was born')
    const follower = subscriptions.follow(agent)
    const beat = follower.next(0, 0)
    time.ms = 15_000
    await subscriptions.look()
    subscriptions.tell(agent.agentId)
    expect(await beat).toBe('beat')
    expect(await follower.next(0, time.ms)).toBe('look')
    subscriptions.close()
    expect(await follower.next(0, time.ms)).toBe('over')
  })

  test('it beats too where each look is followed by another that sends nothing', async () => {
    const { subscriptions, time } = open()
    const [agent] = await agents(1)
    if (!agent) throw new Error('nobody was born')
    const follower = subscriptions.follow(agent)
    const turns: string[] = []
    let sentAt = 0
    for (; time.ms < 30_000; time.ms += 5_000) {
      subscriptions.tell(agent.agentId)
      const turn = await follower.next(-1, sentAt)
      if (turn === 'beat') sentAt = time.ms
      turns.push(turn)
    }
    expect(turns).toEqual(['look', 'look', 'look', 'beat', 'look', 'look'])
    subscriptions.close()
  })

  test('a store that hangs delays no beat, and is asked once', async () => {
    const [agent] = await agents(1)
    if (!agent) throw new Error('nobody was born')
    const time = { ms: 0 }
    const hung: ((changed: readonly string[]) => void)[] = []
    const subscriptions = createSubscriptions({
      changedHomes: () => new Promise((resolve) => hung.push(resolve)),
      clock: () => NOON,
      ...manualTimers().timers,
      stopwatch: () => time.ms,
    })
    const follower = subscriptions.follow(agent)
    const beat = follower.next(0, 0)
    const first = subscriptions.look()
    time.ms = 15_000
    await subscriptions.look()
    expect(await beat).toBe('beat')
    const next = follower.next(0, time.ms)
    void subscriptions.look()
    expect(hung).toHaveLength(1)
    hung[0]?.([agent.agentId])
    await first
    expect(await next).toBe('look')
    subscriptions.close()
  })

  test('what is told in the very moment of a beat is looked at after it', async () => {
    const { subscriptions, time } = open()
    const [agent] = await agents(1)
    if (!agent) throw new Error('nobody was born')
    const follower = subscriptions.follow(agent)
    const beat = follower.next(0, 0)
    time.ms = 15_000
    const looked = subscriptions.look()
    subscriptions.tell(agent.agentId)
    await looked
    expect(await beat).toBe('beat')
    // The next beat is not due: only what was told ends the wait.
    const next = follower.next(0, time.ms)
    const waits = new Promise((resolve) => setImmediate(() => resolve('it waits')))
    expect(await Promise.race([next, waits])).toBe('look')
    subscriptions.close()
  })

  test('who leaves takes nobody along who follows the same home', async () => {
    const { subscriptions, asked } = open()
    const [agent] = await agents(1)
    if (!agent) throw new Error('nobody was born')
    const [one, other] = [subscriptions.follow(agent), subscriptions.follow(agent)]
    const wait = other.next(0, 0)
    one.leave()
    await subscriptions.look()
    expect(asked).toEqual([1])
    subscriptions.tell(agent.agentId)
    const waits = new Promise((resolve) => setImmediate(() => resolve('it waits')))
    expect(await Promise.race([wait, waits])).toBe('look')
    subscriptions.close()
  })

  test('the end of a key is looked at without a word of anybody', async () => {
    const { subscriptions, time } = open()
    const [agent] = await agents(1)
    if (!agent) throw new Error('nobody was born')
    const bounds = { id: 'k', name: 'k', access: 'read', prefix: '', expiresAt: NOON + 1 } as const
    const wait = subscriptions.follow({ ...agent, key: bounds }).next(0, 0)
    time.now++
    await subscriptions.look()
    expect(await wait).toBe('look')
    subscriptions.close()
  })

  test('of a change whose outcome is unknown it is told too', async () => {
    const { subscriptions } = open()
    const [agent] = await agents(1)
    if (!agent) throw new Error('nobody was born')
    const store = fixture.store()
    const { recordEvent } = notifyingStore(
      {
        ...store,
        async recordEvent(...asked) {
          await store.recordEvent(...asked)
          throw new OutcomeUnknown('gone')
        },
      },
      subscriptions.tell,
    )
    const wait = subscriptions.follow(agent).next(0, 0)
    await expect(recordEvent(agent, 'profile', NOON)).rejects.toThrow(OutcomeUnknown)
    const waits = new Promise((resolve) => setImmediate(() => resolve('it waits')))
    expect(await Promise.race([wait, waits])).toBe('look')
    subscriptions.close()
  })

  test('a store that does not answer ends nobody’s wait', async () => {
    const [agent] = await agents(1)
    if (!agent) throw new Error('nobody was born')
    let broken = true
    const subscriptions = createSubscriptions({
      changedHomes: (seen) =>
        broken ? Promise.reject(new Error('gone')) : fixture.store().changedHomes(seen),
      clock: () => NOON,
      ...manualTimers().timers,
    })
    const wait = subscriptions.follow(agent).next(0, 0)
    await happen(agent)
    await subscriptions.look()
    broken = false
    await subscriptions.look()
    expect(await wait).toBe('look')
    subscriptions.close()
  })
})
