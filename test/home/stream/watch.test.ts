/** Who waits for a home asks nothing: one question a look is for all of them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createWatch } from '../../../src/home/stream/watch.ts'
import type { Identity } from '../../../src/store/port/home.ts'
import { engines } from '../../harness.ts'
import { NOON, openFixture, type StoreFixture } from '../../store/fixture.ts'

describe.each(engines)('a watch over homes on $name', (engine) => {
  let fixture: StoreFixture
  beforeAll(async () => {
    fixture = await openFixture(engine)
  })
  afterAll(() => fixture.close())

  /** By hand: the time goes on when the test says so, and what is asked is counted. */
  function open() {
    const time = { now: NOON, ms: 0 }
    const asked: number[] = []
    const watch = createWatch({
      changedHomes(seen) {
        asked.push(seen.size)
        return fixture.store().changedHomes(seen)
      },
      clock: () => time.now,
      stopwatch: () => time.ms,
    })
    return { watch, asked, time }
  }

  const agents = (count: number) =>
    Promise.all(Array.from({ length: count }, async () => (await fixture.agent()).agent))

  const happen = (identity: Identity) => fixture.store().recordEvent(identity, 'profile', NOON)

  test('one question is for all, and wakes only those of the home that changed', async () => {
    const { watch, asked } = open()
    const all = await agents(30)
    const followers = all.flatMap((agent) => [watch.follow(agent), watch.follow(agent)])
    const woken: number[] = []
    const waits = followers.map((follower, i) =>
      follower.next(0, 0).then((turn) => {
        if (turn === 'look') woken.push(i)
      }),
    )
    for (let looks = 0; looks < 5; looks++) await watch.look()
    expect({ asked, woken }).toEqual({ asked: [30, 30, 30, 30, 30], woken: [] })
    const [, , third] = all
    if (!third) throw new Error('nobody was born')
    await happen(third)
    await watch.look()
    await Promise.all(waits.slice(4, 6))
    expect(woken).toEqual([4, 5])
    watch.close()
    await Promise.all(waits)
    expect(woken).toEqual([4, 5])
  })

  test('many homes are asked about a thousand at a time, and none without anybody', async () => {
    const { watch, asked } = open()
    await watch.look()
    const [agent] = await agents(1)
    if (!agent) throw new Error('nobody was born')
    const followers = Array.from({ length: 1_500 }, (_, n) =>
      watch.follow(n === 0 ? agent : { ...agent, agentId: `gone ${n}` }),
    )
    const waits = followers.map((follower) => follower.next(0, 0))
    await watch.look()
    expect(asked).toEqual([1_000, 500])
    expect(await Promise.all(waits.slice(1))).toEqual(Array(1_499).fill('look'))
    for (const each of followers) each.leave()
    await watch.look()
    expect(asked).toHaveLength(2)
    expect(await waits[0]).toBe('over')
  })

  test('who sees less than others of its home is woken for what it has not seen', async () => {
    const { watch } = open()
    const [agent] = await agents(1)
    if (!agent) throw new Error('nobody was born')
    await happen(agent)
    const before = watch.follow(agent).next(0, 0)
    const after = watch.follow(agent).next(1, 0)
    await watch.look()
    expect([await before, await after]).toEqual(['look', 'look'])
    watch.close()
  })

  test('it beats when nothing was sent for long, and what is told meanwhile is looked at', async () => {
    const { watch, time } = open()
    const [agent] = await agents(1)
    if (!agent) throw new Error('nobody was born')
    const follower = watch.follow(agent)
    const beat = follower.next(0, 0)
    time.ms = 15_000
    await watch.look()
    watch.tell(agent.agentId)
    expect(await beat).toBe('beat')
    expect(await follower.next(0, time.ms)).toBe('look')
    watch.close()
    expect(await follower.next(0, time.ms)).toBe('over')
  })

  test('what is told in the very moment of a beat is looked at after it', async () => {
    const { watch, time } = open()
    const [agent] = await agents(1)
    if (!agent) throw new Error('nobody was born')
    const follower = watch.follow(agent)
    const beat = follower.next(0, 0)
    time.ms = 15_000
    const looked = watch.look()
    watch.tell(agent.agentId)
    await looked
    expect(await beat).toBe('beat')
    // The next beat is not due: only what was told ends the wait.
    const next = follower.next(0, time.ms)
    const waits = new Promise((resolve) => setImmediate(() => resolve('it waits')))
    expect(await Promise.race([next, waits])).toBe('look')
    watch.close()
  })

  test('the end of a key is looked at without a word of anybody', async () => {
    const { watch, time } = open()
    const [agent] = await agents(1)
    if (!agent) throw new Error('nobody was born')
    const bounds = { id: 'k', name: 'k', access: 'read', prefix: '', expiresAt: NOON + 1 } as const
    const wait = watch.follow({ ...agent, key: bounds }).next(0, 0)
    time.now++
    await watch.look()
    expect(await wait).toBe('look')
    watch.close()
  })

  test('a store that does not answer ends nobody’s wait', async () => {
    const [agent] = await agents(1)
    if (!agent) throw new Error('nobody was born')
    let broken = true
    const watch = createWatch({
      changedHomes: (seen) =>
        broken ? Promise.reject(new Error('gone')) : fixture.store().changedHomes(seen),
      clock: () => NOON,
      stopwatch: () => 0,
    })
    const wait = watch.follow(agent).next(0, 0)
    await happen(agent)
    await watch.look()
    broken = false
    await watch.look()
    expect(await wait).toBe('look')
    watch.close()
  })
})
