import { BlockList } from 'node:net'
import { describe, expect, test } from 'vitest'
import { peerKey } from '../../src/http/address.ts'
import { createConcurrencyLimit, quarters } from '../../src/http/concurrency-limit.ts'

const nobody = new BlockList()

/** How many of them all may be held at once, one each. */
function heldBy(perClient: number, peers: readonly string[]): number {
  const { take } = createConcurrencyLimit({ perClient })
  return peers.filter((peer) => take(peerKey(peer, nobody) ?? '')).length
}

/** Addresses, each in another network of /64, all in one of /48. */
const site = Array.from({ length: 20 }, (_, n) => `2001:db8:1:${n.toString(16)}::1`)

test('IPv4 is counted by the address, in IPv6 clothes too', () => {
  expect(heldBy(1, ['192.0.2.1', '::ffff:192.0.2.1', '192.0.2.2'])).toBe(2)
})

test('IPv6 is counted by its /64', () => {
  expect(heldBy(1, ['2001:db8::1', '2001:db8::ffff:1', '2001:db8:0:1::1'])).toBe(2)
})

test('IPv6 is counted again by its /48, which may hold four times as much', () => {
  expect(heldBy(2, site)).toBe(8)
  expect(heldBy(2, [...site, '2001:db8:2::1'])).toBe(9)
})

test('who is listed is not counted', () => {
  const exempt = new BlockList()
  exempt.addSubnet('2001:db8::', 32, 'ipv6')
  expect(site.map((peer) => peerKey(peer, exempt))).toEqual(site.map(() => undefined))
  expect(peerKey('192.0.2.1', exempt)).toBe('192.0.2.1')
})

test('0 is without bound', () => {
  expect(heldBy(0, site)).toBe(20)
})

test('what is released twice is released once', () => {
  const { take } = createConcurrencyLimit({ perClient: 1 })
  const release = take('192.0.2.1')
  release?.()
  release?.()
  expect(take('192.0.2.1')).toBeDefined()
  expect(take('192.0.2.1')).toBeUndefined()
})

test('an amount is taken whole or not at all, and released whole', () => {
  const limit = createConcurrencyLimit({ perClient: 10 })
  const [one, other] = [limit.open('192.0.2.1'), limit.open('192.0.2.1')]
  expect([one.take(6), other.take(5), other.take(4), one.take(1)]).toEqual([
    true,
    false,
    true,
    false,
  ])
  one.release()
  one.release()
  expect([other.take(6), one.take(1)]).toEqual([true, false])
})

describe('of a total of four shares', () => {
  const most = (clients: readonly string[]) => {
    const limit = createConcurrencyLimit(quarters(8))
    return clients.map((client) => {
      const held = limit.open(client)
      let taken = 0
      while (held.take(1)) taken++
      return taken
    })
  }

  test('a client has one, and four clients have all', () => {
    expect(most(['192.0.2.1', '192.0.2.1', '192.0.2.2', '192.0.2.3'])).toEqual([8, 0, 8, 8])
    expect(most(['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4', '192.0.2.5'])).toEqual([
      ...[8, 8, 8, 8, 0],
    ])
  })

  test('a network of IPv6 has two, whatever it has clients', () => {
    const clients = site.map((peer) => peerKey(peer, nobody) ?? '')
    expect(most([...clients, '192.0.2.1'])).toEqual([8, 8, ...Array(18).fill(0), 8])
  })

  test('0 is without bound', () => {
    const limit = createConcurrencyLimit(quarters(0))
    expect(limit.open('192.0.2.1').take(Number.MAX_SAFE_INTEGER)).toBe(true)
  })
})
