/** Whose work runs next, where much waits. */
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { createFairQueue, type FairQueueOptions } from '../../src/http/fair-queue.ts'
import { manualTimers } from '../manual-timers.ts'

/** Work that lasts until it is told to end; what began is listed in its order. */
function openQueue(options: Partial<FairQueueOptions> = {}) {
  const busy = () => new Error('busy')
  const queue = createFairQueue({ atOnce: 2, places: 128, busy, ...options })
  const begun: string[] = []
  const ends: (() => void)[] = []
  const refused: string[] = []
  const ask = (client: string, name: string, trusted = false): Promise<void> => {
    const work = () => {
      begun.push(name)
      return new Promise<void>((end) => ends.push(end))
    }
    return queue.run({ client, trusted }, work).catch(() => void refused.push(name))
  }
  const endOne = async () => {
    ends.shift()?.()
    await turn()
  }
  const endAll = async () => {
    await turn()
    while (ends.length > 0) await endOne()
  }
  return { ask, begun, refused, endOne, endAll, settle: () => turn() }
}

const names = (name: string, count: number) => Array.from({ length: count }, (_, n) => name + n)

const [A, B, C] = ['192.0.2.1', '192.0.2.2', '192.0.2.3'] as const

/** Clients of one IPv6 /48. */
const site = Array.from({ length: 200 }, (_, n) => `2001:db8:1:${n.toString(16)}::/64`)

describe('of the work that waits', () => {
  test('so much runs at once, and each that ends lets the next begin', async () => {
    const { ask, begun, endOne, settle } = openQueue()
    for (const name of ['a', 'b', 'c', 'd']) void ask(A, name)
    await settle()
    expect(begun).toEqual(['a', 'b'])
    await endOne()
    expect(begun).toEqual(['a', 'b', 'c'])
    await endOne()
    expect(begun).toEqual(['a', 'b', 'c', 'd'])
  })

  test('each client’s comes in turn, however much it has', async () => {
    const { ask, begun, endAll } = openQueue()
    for (const name of names('greedy', 6)) void ask(A, name)
    for (const name of names('modest', 2)) void ask(B, name)
    void ask(C, 'late')
    await endAll()
    expect(begun).toEqual([
      ...['greedy0', 'greedy1', 'greedy2', 'modest0', 'late', 'greedy3', 'modest1'],
      ...['greedy4', 'greedy5'],
    ])
  })

  test('a network of IPv6 has one turn for all of its clients, which take turns in it', async () => {
    const { ask, begun, endAll } = openQueue({ atOnce: 1 })
    void ask(C, 'first')
    for (const client of site.slice(0, 3)) {
      for (const name of names(`${client.split(':')[3]}-`, 2)) void ask(client, name)
    }
    for (const name of names('other', 2)) void ask(A, name)
    await endAll()
    expect(begun).toEqual([
      ...['first', '0-0', 'other0', '1-0', 'other1', '2-0', '0-1', '1-1', '2-1'],
    ])
  })

  test('whoever comes anew is behind all who wait', async () => {
    const { ask, begun, endOne, endAll } = openQueue({ atOnce: 1 })
    for (const name of names('a', 3)) void ask(A, name)
    void ask(B, 'b0')
    await endOne()
    void ask(C, 'c0')
    await endOne()
    void ask(B, 'b1')
    await endAll()
    expect(begun).toEqual(['a0', 'a1', 'b0', 'a2', 'c0', 'b1'])
  })

  test('whoever comes again is behind those who came meanwhile', async () => {
    const { ask, begun, endOne, endAll } = openQueue({ atOnce: 1 })
    void ask(A, 'a0')
    void ask(B, 'b0')
    await endOne()
    void ask(C, 'c0')
    void ask(A, 'a1')
    void ask(B, 'b1')
    await endAll()
    expect(begun).toEqual(['a0', 'b0', 'c0', 'a1', 'b1'])
  })

  test('one client has no more than its share at once, and keeps nobody else waiting', async () => {
    const { ask, begun, endAll, settle } = openQueue({ atOnce: 4, perClient: 1 })
    for (const name of names('greedy', 3)) void ask(A, name)
    for (const client of site.slice(0, 3)) void ask(client, 'of one site')
    void ask(B, 'modest')
    await settle()
    expect(begun).toEqual(['greedy0', 'of one site', 'of one site', 'modest'])
    await endAll()
    expect(begun).toHaveLength(7)
  })

  test('whoever is trusted goes first, but for every fourth turn', async () => {
    const { ask, begun, endAll } = openQueue()
    for (const name of names('stranger', 4)) void ask(A, name)
    for (const name of names('known', 8)) void ask(B, name, true)
    await endAll()
    expect(begun).toEqual([
      ...['stranger0', 'stranger1', 'known0', 'known1', 'known2', 'stranger2'],
      ...['known3', 'known4', 'known5', 'stranger3', 'known6', 'known7'],
    ])
  })

  test('a client has a quarter of the places, and then there is room again', async () => {
    const { ask, begun, refused, endAll, settle } = openQueue({ places: 8 })
    for (const name of names('n', 6)) void ask(A, name)
    void ask(B, 'other')
    await settle()
    expect(refused).toEqual(['n4', 'n5'])
    await endAll()
    expect(begun).toHaveLength(5)
    for (const name of names('again', 5)) void ask(A, name)
    await endAll()
    expect(refused).toEqual(['n4', 'n5', 'again4'])
  })

  test('a client that is trusted and waits has its places beside those of strangers there', async () => {
    const { ask, begun, refused, endAll } = openQueue({ places: 4 })
    for (const name of names('stranger', 4)) void ask(A, name)
    void ask(A, 'known', true)
    void ask(A, 'known too', true)
    await endAll()
    expect(refused).toEqual(['stranger3', 'known too'])
    expect(begun).toEqual(['stranger0', 'stranger1', 'known', 'stranger2'])
  })

  test('a network has half of the places, whatever it has clients', async () => {
    const { ask, refused, settle } = openQueue({ places: 8, atOnce: 1 })
    for (const [n, client] of site.slice(0, 7).entries()) void ask(client, `n${n}`)
    await settle()
    expect(refused).toEqual(['n5', 'n6'])
  })

  test('when all places are taken whoever has the most gives way to whoever has fewer', async () => {
    const { ask, begun, refused, endAll, settle } = openQueue({ places: 8 })
    for (const client of [C, C, A, A, B, B]) void ask(client, `${client} early`)
    for (const client of ['198.51.100.1', '198.51.100.2']) {
      for (const name of names(client, 2)) void ask(client, name)
    }
    await settle()
    expect(refused).toEqual([])
    void ask('203.0.113.1', 'modest')
    await settle()
    expect(refused).toEqual([`${A} early`])
    void ask('203.0.113.2', 'another', true)
    await endAll()
    expect(begun).toEqual(expect.arrayContaining(['modest', 'another']))
    expect(begun).toHaveLength(11)
  })

  test('the client with the most of the network with the most gives way, by its newest', async () => {
    const { ask, refused, settle } = openQueue({ places: 8, atOnce: 1 })
    const [one = '', two = '', three = ''] = site
    void ask(C, 'runs')
    void ask(one, 'one')
    for (const name of names('two-', 2)) void ask(two, name)
    void ask(three, 'three')
    for (const client of [A, A, B, B]) void ask(client, client)
    await settle()
    expect(refused).toEqual([])
    void ask(C, 'modest')
    await settle()
    expect(refused).toEqual(['two-1'])
  })

  test('whoever has all of its own places takes nobody else’s', async () => {
    const { ask, refused, settle } = openQueue({ places: 8, atOnce: 1 })
    void ask(C, 'runs')
    for (const client of [...site.slice(0, 4), A, A, B, B]) void ask(client, client)
    void ask(A, 'more')
    await settle()
    expect(refused).toEqual(['more'])
  })

  test('all places taken by clients with one each make no room for another', async () => {
    const { ask, refused, settle } = openQueue()
    for (let n = 0; n < 130; n++) void ask(`198.51.100.${n}`, `n${n}`)
    void ask(C, 'late')
    await settle()
    expect(refused).toEqual(['late'])
  })

  test('a queue that was full and is empty again is as long as it was', async () => {
    const { ask, refused, endAll } = openQueue({ places: 8 })
    for (let times = 0; times < 3; times++) {
      for (const client of [A, A, A, A, A, B, B, B, C, C, '198.51.100.1', '198.51.100.1']) {
        void ask(client, client)
      }
      void ask('198.51.100.2', 'modest')
      await endAll()
      expect(refused.splice(0)).toEqual([A, B, A])
    }
  })

  test('what waited too long is refused and never runs', async () => {
    const { timers, pass } = manualTimers()
    const { ask, begun, refused, endAll } = openQueue({ patience: { ms: 1, ...timers } })
    const first = [ask(A, 'runs'), ask(B, 'runs too')]
    const late = ask(C, 'waits')
    pass(1)
    await late
    expect(refused).toEqual(['waits'])
    await endAll()
    await Promise.all(first)
    void ask(C, 'later')
    await endAll()
    expect(begun).toEqual(['runs', 'runs too', 'later'])
  })

  test('what runs is not refused for it', async () => {
    const { timers, pass } = manualTimers()
    const { ask, refused, endAll } = openQueue({ patience: { ms: 1, ...timers }, atOnce: 1 })
    const first = ask(A, 'runs')
    const late = ask(B, 'waits')
    pass(1)
    await late
    await endAll()
    await first
    expect(refused).toEqual(['waits'])
  })

  test('work that fails lets the next begin', async () => {
    const queue = createFairQueue({ atOnce: 1, places: 8, busy: () => new Error('busy') })
    const failing = () => queue.run({ client: A }, () => Promise.reject(new Error('none')))
    for (const each of await Promise.allSettled([failing(), failing(), failing()])) {
      expect(each).toMatchObject({ status: 'rejected', reason: { message: 'none' } })
    }
    expect(await queue.run({ client: A }, async () => 'done')).toBe('done')
  })
})
