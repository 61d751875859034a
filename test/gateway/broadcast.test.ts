import { setImmediate as turn } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  type Broadcast,
  createBroadcast,
  SERVED,
  type StreamTimings,
} from '../../src/gateway/broadcast.ts'
import { StoreUnavailable } from '../../src/store/port/errors.ts'
import type { GatewayStore } from '../../src/store/port/gateway.ts'
import { processTimers } from '../../src/timers.ts'
import { engines, openService, type TestService } from '../harness.ts'
import { mostInATurn } from '../per-turn.ts'

const NEVER_MS = 60_000
const HEARTBEAT = ':\n\n'

const idsIn = (text: string): string[] =>
  [...text.matchAll(/^id: (.+)$/gm)].map(([, id = '']) => id)

describe.each(engines)('broadcast on $name', (engine) => {
  let service: TestService
  let broadcast: Broadcast
  /** The last arrival before the test. */
  let start: string
  beforeAll(async () => {
    service = await openService(engine)
  })
  beforeEach(async () => {
    start = await service.store.lastArrival()
  })
  afterEach(() => broadcast.close())
  afterAll(() => service.close())

  const watch = (pace: Partial<StreamTimings> = {}) => {
    const still = { pollMs: NEVER_MS, heartbeatMs: NEVER_MS, maxListeners: 10 }
    broadcast = createBroadcast(service.store, { ...still, ...pace }, processTimers)
    return broadcast
  }

  /** Through the endpoint, whose own broadcast nobody here listens to. */
  const leave = async (text: string): Promise<string> => {
    const { body } = await service.call('POST', '/api/garden', { body: { text } })
    return (body.trace as { id: string }).id
  }

  const leaveMany = (count: number): Promise<string[]> =>
    Promise.all(Array.from({ length: count }, (_, i) => leave(`${i}`)))

  const follow = async (after: string) => broadcast.follow(after, await service.store.lastArrival())

  /** Ids as one listener hears them, until it heard so many. */
  async function hear(after: string, count: number): Promise<string[]> {
    const { events, leave } = await follow(after)
    const heard: string[] = []
    for await (const text of events) {
      heard.push(...idsIn(text))
      if (heard.length >= count) break
    }
    leave()
    return heard
  }

  test('a listener hears what it missed, then what arrives', async () => {
    watch()
    const missed = await leaveMany(3)
    const heard = hear(start, 5)
    await turn()
    const fresh = [await leave('4'), await leave('5')]
    broadcast.lookAgain()
    expect(await heard).toEqual([...missed.sort(), ...fresh])
  })

  test('an entry is told to a few listeners in each turn, and to all', async () => {
    watch({ maxListeners: 200 })
    const last = await service.store.lastArrival()
    const listeners = Array.from({ length: 100 }, () => broadcast.follow(start, last))
    const heard = listeners.map(({ events }) => events.next())
    for (let turns = 0; turns < 20; turns++) await turn()
    const most = await mostInATurn(async (count) => {
      await leave('for all')
      broadcast.lookAgain()
      const counted = heard.map((each) => each.finally(() => count(1)))
      for (const { value } of await Promise.all(counted)) expect(value).toContain('for all')
    })
    expect(most).toBeLessThanOrEqual(SERVED)
    for (const { leave } of listeners) leave()
  })

  test('what another process left is found by looking', async () => {
    watch({ pollMs: 5 })
    const heard = hear(start, 1)
    await turn()
    const left = await leave('from elsewhere')
    expect(await heard).toEqual([left])
  })

  test('where nothing arrives, the heart beats', async () => {
    watch({ heartbeatMs: 5 })
    const { events, leave } = await follow(start)
    const iterator = events[Symbol.asyncIterator]()
    expect((await iterator.next()).value).toBe(HEARTBEAT)
    expect((await iterator.next()).value).toBe(HEARTBEAT)
    leave()
  })

  test('a listener keeps its place while the heart beats', async () => {
    watch({ heartbeatMs: 5 })
    const { events, leave: letGo } = await follow(start)
    const heard: string[] = []
    const until = async (isEnough: (text: string) => boolean) => {
      for (let text = ''; !isEnough(text); heard.push(...idsIn(text))) {
        text = (await events.next()).value ?? ''
      }
    }
    const left: string[] = []
    for (let n = 0; n < 3; n++) {
      left.push(await leave(`${n}`))
      broadcast.lookAgain()
      await until((text) => text.includes(left.at(-1) ?? ''))
      await until((text) => text === HEARTBEAT)
    }
    expect(heard).toEqual(left)
    letGo()
  })

  test('resuming after any event loses and repeats nothing, while many arrive', async () => {
    watch({ pollMs: 5 })
    const posted: Promise<string[]>[] = []
    const total = 300
    const heard: string[] = []
    while (heard.length < total) {
      if (posted.length < 10) posted.push(leaveMany(total / 10))
      heard.push(...(await hear(heard.at(-1) ?? start, 1 + (heard.length % 7))))
    }
    const all = (await Promise.all(posted)).flat()
    expect(heard).toEqual(all.sort())
  })

  test('every listener hears the same, near or far behind', async () => {
    watch()
    const near = hear(start, 400)
    const slow = await follow(start)
    const reader = slow.events[Symbol.asyncIterator]()
    const text = 'x'.repeat(10_000)
    const all: string[] = [await leave('first')]
    broadcast.lookAgain()
    const first = await reader.next()
    for (let i = 0; i < 8; i++) {
      all.push(...(await Promise.all(Array.from({ length: 50 }, () => leave(text)))).sort())
      broadcast.lookAgain()
      await turn()
    }
    // By now more arrived than is kept in memory: who is behind reads from the store.
    const heard = idsIn(String(first.value))
    while (heard.length < all.length) heard.push(...idsIn(String((await reader.next()).value)))
    slow.leave()
    expect(heard).toEqual(all)
    expect((await near).slice(0, 400)).toEqual(all.slice(0, 400))
  })

  test('a store that does not answer for a while leaves it open, and nothing is lost', async () => {
    let answers = true
    const store = {
      ...service.store,
      entriesAfter: (...asked: Parameters<GatewayStore['entriesAfter']>) =>
        answers
          ? service.store.entriesAfter(...asked)
          : Promise.reject(new StoreUnavailable('gone')),
    }
    const all = (await leaveMany(3)).sort()
    broadcast = createBroadcast(
      store,
      { pollMs: NEVER_MS, heartbeatMs: NEVER_MS, maxListeners: 10 },
      processTimers,
    )
    // Behind what is kept in memory, and at its end.
    const [far, near] = [await follow(start), await follow(all.at(-1) ?? '')]
    const [behind, ahead] = [far.events, near.events].map((each) => each[Symbol.asyncIterator]())
    answers = false
    const [first, next] = [behind?.next(), ahead?.next()]
    broadcast.lookAgain()
    await turn()
    answers = true
    broadcast.lookAgain()
    expect(idsIn(String((await first)?.value))).toEqual(all)
    const fresh = await leave('after it')
    broadcast.lookAgain()
    for (const heard of [next, behind?.next()]) {
      expect(idsIn(String((await heard)?.value))).toEqual([fresh])
    }
    far.leave()
    near.leave()
  })

  test('who leaves waits for no arrival', async () => {
    watch()
    const { events, leave } = await follow(await service.store.lastArrival())
    const end = events[Symbol.asyncIterator]().next()
    await turn()
    leave()
    expect(await end).toEqual({ done: true, value: undefined })
  })

  test('long entries come a few at a time, from memory and from the store', async () => {
    watch()
    const text = 'x'.repeat(30_000)
    const leaveLong = async () => {
      for (let i = 0; i < 5; i++) await leave(text)
      return service.store.lastArrival()
    }
    const last = await leaveLong()
    const far = await follow(start)
    const piece = await far.events[Symbol.asyncIterator]().next()
    const hearing = hear(last, 5)
    await leaveLong()
    broadcast.lookAgain()
    await hearing
    const near = await follow(last)
    for (const { value } of [piece, await near.events[Symbol.asyncIterator]().next()]) {
      expect(String(value).length).toBeLessThan(3 * text.length)
    }
    far.leave()
    near.leave()
  })

  test('near listeners read from memory, also after more than it holds', async () => {
    let reads = 0
    const counting: GatewayStore = Object.create(service.store, {
      entriesAfter: {
        value: (...asked: Parameters<GatewayStore['entriesAfter']>) => {
          reads++
          return service.store.entriesAfter(...asked)
        },
      },
    })
    const still = { pollMs: NEVER_MS, heartbeatMs: NEVER_MS, maxListeners: 10 }
    broadcast = createBroadcast(counting, still, processTimers)
    const listeners = await Promise.all(Array.from({ length: 5 }, () => follow(start)))
    const hearAll = () => Promise.all(listeners.map(({ events }) => events.next()))
    for (let n = 0; n < 24; n++) {
      await leave('x'.repeat(60_000))
      broadcast.lookAgain()
      await hearAll()
    }
    const before = reads
    const last = await leave('last')
    broadcast.lookAgain()
    for (const { value } of await hearAll()) expect(value).toContain(last)
    // The one that finds it, and the one that finds no more.
    expect(reads - before).toBeLessThanOrEqual(2)
    for (const { leave: letGo } of listeners) letGo()
  })

  test('closing ends every stream, and nobody may listen after', async () => {
    watch()
    const { events } = await follow(await service.store.lastArrival())
    const end = events[Symbol.asyncIterator]().next()
    await turn()
    broadcast.close()
    expect(await end).toEqual({ done: true, value: undefined })
    expect(broadcast.full()).toBe(true)
  })

  test('so many may listen, and a place that was left is free again', async () => {
    watch({ maxListeners: 2 })
    const first = await follow(start)
    const second = await follow(start)
    expect(broadcast.full()).toBe(true)
    first.leave()
    first.leave()
    expect(broadcast.full()).toBe(false)
    second.leave()
  })
})
