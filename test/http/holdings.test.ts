import { BlockList } from 'node:net'
import { expect, test } from 'vitest'
import { peerKey } from '../../src/http/address.ts'
import { createHoldings } from '../../src/http/holdings.ts'

const nobody = new BlockList()

/** How many of them all may be held at once, one each. */
function heldBy(perClient: number, peers: readonly string[]): number {
  const { take } = createHoldings(perClient)
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

test('what is let go twice is let go once', () => {
  const { take } = createHoldings(1)
  const letGo = take('192.0.2.1')
  letGo?.()
  letGo?.()
  expect(take('192.0.2.1')).toBeDefined()
  expect(take('192.0.2.1')).toBeUndefined()
})
